#!/usr/bin/env bash
# Brings llama.cpp 0.4.0 into the user's cache and prints the folder to build against (for
# -DSAMOVAR_LLAMA_DIR) on stdout; everything else goes to stderr. Idempotent, safe to run twice at
# once, and offline once the cache holds what it needs. Kept to bash 3.2 (macOS).
#
# SAMOVAR_LLAMA chooses where the libraries come from:
#   auto (default)  the prebuilt ones for this machine: CPU on Linux, Metal on an Apple machine
#   cpu cuda vulkan metal   a particular prebuilt kind
#   source          compiled from the same source bundle; SAMOVAR_LLAMA_CMAKE adds CMake flags,
#                   e.g. "-DGGML_CUDA=ON" (about 25 minutes on two cores)
#   <folder>        a built llama.cpp 0.4.0 checkout, or a prefix it was installed to
#
# Packages come by `npm pack`, so npm's registry, proxy and certificate settings apply. Each is checked
# against the sha512 pinned below. With --offline nothing is fetched (nor compiled): the exit status
# says whether everything is in the cache.
set -euo pipefail

PACKAGES=3.21.1 # version of the npm packages that carry llama.cpp $LLAMA
LLAMA=0.4.0
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/samovar/llama"
WANT="${SAMOVAR_LLAMA:-auto}"
OFFLINE=""
if [ "${1:-}" = --offline ]; then OFFLINE=yes; fi

say() { echo "llama: $*" >&2; }
die() {
  echo "llama: error: $*" >&2
  exit 1
}

integrity() {
  case "$1" in
    node-llama-cpp) echo "E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==" ;;
    @node-llama-cpp/linux-x64) echo "Totj6RTDMGo3FoK2yNUaz/oGmZD0olAqTrRluFUWmu0kW2i9TOzHSW0OWCAiGkzRCVX0WsU2CyUQo/W2NYtdPA==" ;;
    @node-llama-cpp/linux-x64-cuda) echo "idsE55VoD/FbvLhnBC9krUJaUoC0XnebseAAnCpm/brKf61HEbu+idgbb5eN6mxkjLSrHtILprJ0nDcUJjVrFg==" ;;
    @node-llama-cpp/linux-x64-vulkan) echo "flEeSzONQ6OIm5bYKLQf4eEnBzcC5WugFbyPUwkCqyyOFZ8pH0H9ulQ7ZNDLSIczeKneMRJornlyY1Hq7d3GDA==" ;;
    @node-llama-cpp/linux-arm64) echo "eI3anSEGzJiwF2rpMpZVTdHzw47LztbvfvuRzlu/fPO18ROnBOd+75RPUBlV6qENPpmNtbov85+3VODwEwBurg==" ;;
    @node-llama-cpp/mac-arm64-metal) echo "6MIDAZV7DXD9R1+jEXWJkFuolni3GATGE6mmuyFYc6ZmtOh9djAy15df0T0AXK3sCmVKL+fQcOAWZezxx4MvQQ==" ;;
    @node-llama-cpp/mac-x64) echo "Q4nyNmbcNiKygBZQZjX+qLk2w3YzoiFpLWsxNURQN7xjyUi2p2rWxjRa7Otg0FrjGf/ri4aQ+X3Uj5Y0zD06eg==" ;;
    *) die "no pinned sha512 for package $1" ;;
  esac
}

# The prebuilt package for this machine and a kind (auto, cpu, cuda, vulkan, metal).
package_for() {
  case "$(uname -s)-$(uname -m)-$1" in
    Linux-x86_64-auto | Linux-x86_64-cpu) echo linux-x64 ;;
    Linux-x86_64-cuda) echo linux-x64-cuda ;;
    Linux-x86_64-vulkan) echo linux-x64-vulkan ;;
    Linux-aarch64-auto | Linux-aarch64-cpu) echo linux-arm64 ;;
    Darwin-arm64-auto | Darwin-arm64-metal) echo mac-arm64-metal ;;
    Darwin-x86_64-auto | Darwin-x86_64-cpu) echo mac-x64 ;;
    *) die "no prebuilt llama.cpp of kind '$1' for $(uname -s) on $(uname -m): use SAMOVAR_LLAMA=source (with" \
      "SAMOVAR_LLAMA_CMAKE for a GPU), or SAMOVAR_LLAMA=<folder> of your own build" ;;
  esac
}

# --- work in progress is a temporary folder, renamed when complete; one process at a time ---

LOCK="$CACHE/.lock"
WORK=""
locked=0
finish() {
  [ -z "$WORK" ] || rm -rf "$WORK"
  [ "$locked" = 0 ] || rm -rf "$LOCK"
}
trap finish EXIT
trap 'exit 130' INT TERM

lock() {
  local owner told=0
  until mkdir "$LOCK" 2>/dev/null; do
    owner="$(cat "$LOCK/pid" 2>/dev/null || true)"
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
      rm -rf "$LOCK" # its owner was killed
    elif [ "$told" = 0 ]; then
      say "another build is preparing llama.cpp; waiting for it (if none is, remove $LOCK)"
      told=1
    else
      sleep 1
    fi
  done
  locked=1
  echo $$ >"$LOCK/pid"
}

# publish FOLDER NAME: FOLDER gets its final name. `mv` into an existing folder would nest.
publish() {
  rm -rf "$2"
  mv "$1" "$2"
}

# --- packages and the source tree ---

# fetch PACKAGE FOLDER
fetch() {
  local package="$1" folder="$2" sum
  if [ -d "$folder" ]; then return 0; fi
  [ -z "$OFFLINE" ] || die "$package@$PACKAGES is not in the cache"
  command -v npm >/dev/null || die "npm is needed to fetch $package: run scripts/setup.sh, or install npm"
  rm -rf "$WORK/fetch"
  mkdir "$WORK/fetch" "$WORK/fetch/unpacked"
  say "fetching $package@$PACKAGES"
  (cd "$WORK/fetch" && npm pack --silent "$package@$PACKAGES" >/dev/null) ||
    die "npm pack $package@$PACKAGES failed: check the network and npm's registry setting, then try again"
  sum="$(openssl dgst -sha512 -binary "$WORK/fetch"/*.tgz | openssl base64 -A)"
  [ "$sum" = "$(integrity "$package")" ] ||
    die "$package@$PACKAGES does not have the pinned sha512 (its own is $sum): it was refused. Check npm's registry setting"
  tar xzf "$WORK/fetch"/*.tgz -C "$WORK/fetch/unpacked" --strip-components=1
  publish "$WORK/fetch/unpacked" "$folder"
}

# The source tree of the bundle, unpacked once.
SOURCE="$CACHE/source-$LLAMA"
fetch_source() {
  if [ -d "$SOURCE" ]; then return 0; fi
  fetch node-llama-cpp "$CACHE/node-llama-cpp-$PACKAGES"
  command -v git >/dev/null || die "git is needed to unpack llama.cpp's source: run scripts/setup.sh, or install git"
  git -c advice.detachedHead=false clone --quiet \
    "$CACHE/node-llama-cpp-$PACKAGES/llama/gitRelease.bundle" "$WORK/source" >&2 ||
    die "cannot unpack llama.cpp's source bundle: remove $CACHE/node-llama-cpp-$PACKAGES and try again"
  publish "$WORK/source" "$SOURCE"
}

# --- the folder that CMake reads: include/, lib/, src/, version ---

# lay_out SOURCE DESCRIPTION: everything but lib/, under $WORK/out. Copies keep their time, so that
# laying out again rebuilds nothing.
lay_out() {
  local source="$1" out="$WORK/out"
  rm -rf "$out"
  mkdir -p "$out/include/llama-common" "$out/include/vendor"
  cp -p "$source"/include/*.h "$source"/ggml/include/*.h "$source/src/llama-ext.h" "$out/include/"
  (cd "$source/common" && find . -name '*.h' -print0 | xargs -0 tar cf -) | tar xf - -C "$out/include/llama-common"
  cp -pR "$source/vendor/nlohmann" "$source/vendor/cpp-httplib" "$out/include/vendor/"
  ln -s "$source" "$out/src"
  echo "llama.cpp $LLAMA ($2)" >"$out/version"
}

# need_library FOLDER NAME
need_library() {
  local found
  for found in "$1/$2".*so "$1/$2".*dylib; do
    if [ -e "$found" ]; then return 0; fi
  done
  die "no shared $2 in $1: build llama.cpp $LLAMA with -DBUILD_SHARED_LIBS=ON -DLLAMA_BUILD_COMMON=ON"
}

prebuilt() {
  local package out
  package="$(package_for "$WANT")"
  out="$CACHE/$LLAMA-$package"
  [ -f "$out/version" ] || lock_and_work
  if [ ! -f "$out/version" ]; then
    fetch_source
    fetch "@node-llama-cpp/$package" "$CACHE/$package-$PACKAGES"
    lay_out "$SOURCE" "$package, prebuilt"
    ln -s "$CACHE/$package-$PACKAGES/bins/$package" "$WORK/out/lib"
    publish "$WORK/out" "$out"
    say "llama.cpp $LLAMA ($package, prebuilt) is in $out"
  fi
  if [ "$package" = linux-x64 ] && [ "$WANT" = auto ] && [ -e /dev/nvidia0 ]; then
    say "this machine has an NVIDIA GPU, and the CPU libraries are used: SAMOVAR_LLAMA=cuda uses the GPU"
  fi
  echo "$out"
}

compiled() {
  local flags="${SAMOVAR_LLAMA_CMAKE:-}" key build out jobs
  key="$(printf '%s' "$flags" | cksum | cut -d' ' -f1)"
  build="$CACHE/build-source-$key"
  out="$CACHE/$LLAMA-source-$key"
  [ -f "$out/version" ] || lock_and_work
  if [ ! -f "$out/version" ]; then
    fetch_source
    if [ -n "$OFFLINE" ]; then exit 0; fi
    command -v cmake >/dev/null || die "cmake is needed to compile llama.cpp: run scripts/setup.sh, or install cmake"
    say "compiling llama.cpp $LLAMA in $build (about 25 minutes on two cores; an interrupted build goes on)"
    # llama-common carries a copy of the HTTP library that the server uses: OpenSSL must be off in both.
    # shellcheck disable=SC2086 # flags are words
    cmake -S "$SOURCE" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
      -DLLAMA_BUILD_IS_DEV=OFF -DLLAMA_BUILD_COMMON=ON -DLLAMA_OPENSSL=OFF -DLLAMA_SUBPROCESS=OFF \
      -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
      -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF $flags >&2 ||
      die "llama.cpp does not configure: see the message above and SAMOVAR_LLAMA_CMAKE ('$flags')"
    if [ -n "${SAMOVAR_LLAMA_CONFIGURE_ONLY:-}" ]; then
      say "configured in $build; not compiled, as SAMOVAR_LLAMA_CONFIGURE_ONLY asks"
      exit 0
    fi
    jobs="$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)"
    cmake --build "$build" -j "$jobs" --target llama llama-common >&2 ||
      die "llama.cpp does not compile: see the message above; the build is in $build"
    lay_out "$SOURCE" "source${flags:+ with $flags}"
    mkdir "$WORK/out/lib"
    cp -pR "$build"/bin/lib* "$WORK/out/lib/"
    publish "$WORK/out" "$out"
    say "llama.cpp $LLAMA (compiled) is in $out"
  fi
  echo "$out"
}

# The version of a checkout: three set(LLAMA_VERSION_... n) lines.
checkout_version() {
  sed -n -e 's/^set(LLAMA_VERSION_MAJOR *\([0-9]*\))/\1/p' -e 's/^set(LLAMA_VERSION_MINOR *\([0-9]*\))/\1/p' \
    -e 's/^set(LLAMA_VERSION_PATCH *\([0-9]*\))/\1/p' "$1/CMakeLists.txt" | paste -sd. -
}

own_folder() {
  local folder source lib="" found version out
  folder="$(cd "$WANT" 2>/dev/null && pwd)" ||
    die "SAMOVAR_LLAMA is '$WANT', which is neither auto, cpu, cuda, vulkan, metal, source nor a folder"
  if [ -f "$folder/version" ] && [ -d "$folder/include/llama-common" ] && [ -d "$folder/lib" ]; then
    echo "$folder" # one that this script laid out
    return 0
  fi
  out="$CACHE/$LLAMA-folder-$(printf '%s' "$folder" | cksum | cut -d' ' -f1)"
  lock_and_work
  if [ -f "$folder/src/llama-ext.h" ]; then
    source="$folder"
    version="$(checkout_version "$folder")"
    for found in "$folder"/build*/bin "$folder"/build*/lib "$folder"/build*/*/bin; do
      if ls "$found"/libllama.* >/dev/null 2>&1; then lib="$found" && break; fi
    done
    [ -n "$lib" ] || die "no libllama in $folder/build*/bin: build that checkout first"
  elif [ -f "$folder/include/llama.h" ]; then
    for found in "$folder/lib" "$folder/lib64" "$folder"/lib/*-linux-gnu; do
      if ls "$found"/libllama.* >/dev/null 2>&1; then lib="$found" && break; fi
    done
    [ -n "$lib" ] || die "no libllama in $folder/lib"
    version="$(sed -n 's/^Version: *\([0-9.]*\).*/\1/p' "$lib/pkgconfig/llama.pc" 2>/dev/null || true)"
    fetch_source # an install lacks the headers of llama-common, JSON and HTTP
    source="$SOURCE"
  else
    die "$folder is neither a llama.cpp checkout (src/llama-ext.h) nor an install (include/llama.h)"
  fi
  [ "$version" = "$LLAMA" ] ||
    die "$folder holds llama.cpp ${version:-of unknown version}; this version of Samovar is built on $LLAMA exactly"
  need_library "$lib" libllama
  need_library "$lib" libllama-common
  need_library "$lib" libggml
  need_library "$lib" libggml-base
  lay_out "$source" "of $folder"
  ln -s "$lib" "$WORK/out/lib"
  publish "$WORK/out" "$out"
  echo "$out"
}

lock_and_work() {
  mkdir -p "$CACHE" || die "cannot create $CACHE: set XDG_CACHE_HOME to a folder that can be written"
  lock
  WORK="$(mktemp -d "$CACHE/.work.XXXXXX")"
}

case "$WANT" in
  auto | cpu | cuda | vulkan | metal) prebuilt ;;
  source) compiled ;;
  *) own_folder ;;
esac
