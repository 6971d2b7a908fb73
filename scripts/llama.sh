#!/usr/bin/env bash
# Brings llama.cpp 0.4.0 into the cache and prints the folder (for -DSAMOVAR_LLAMA_DIR) on stdout.
# Everything it says goes to stderr. Idempotent: a finished folder is used as it is.
set -euo pipefail

VERSION=3.21.1        # of the npm packages; llama.cpp v0.4.0
LLAMA=0.4.0
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/samovar/llama"

say() { echo "llama: $*" >&2; }
die() { echo "llama: error: $*" >&2; exit 1; }

integrity() {
  case "$1" in
    node-llama-cpp) echo "E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==" ;;
    @node-llama-cpp/linux-x64) echo "Totj6RTDMGo3FoK2yNUaz/oGmZD0olAqTrRluFUWmu0kW2i9TOzHSW0OWCAiGkzRCVX0WsU2CyUQo/W2NYtdPA==" ;;
    *) die "no pinned integrity for package $1" ;;
  esac
}

# fetch PACKAGE FOLDER: npm pack, check the pinned sha512, unpack.
fetch() {
  local package="$1" folder="$2" work tarball sum
  [ -d "$folder" ] && return 0
  work="$(mktemp -d "$CACHE/fetch.XXXXXX")"
  say "fetching $package@$VERSION"
  (cd "$work" && npm pack --silent "$package@$VERSION" >/dev/null) \
    || die "npm pack $package@$VERSION failed: check the network and npm's registry setting, then try again"
  tarball="$(ls "$work"/*.tgz)"
  sum="$(openssl dgst -sha512 -binary "$tarball" | base64 -w0)"
  [ "$sum" = "$(integrity "$package")" ] \
    || die "$package@$VERSION does not have the pinned sha512 (got $sum): do not use it"
  mkdir "$work/unpacked"
  tar xzf "$tarball" -C "$work/unpacked" --strip-components=1
  mv "$work/unpacked" "$folder"
  rm -rf "$work"
}

mkdir -p "$CACHE"
platform=linux-x64
out="$CACHE/$LLAMA-$platform"
if [ ! -f "$out/version" ]; then
  fetch node-llama-cpp "$CACHE/node-llama-cpp-$VERSION"
  fetch "@node-llama-cpp/$platform" "$CACHE/$platform-$VERSION"
  [ -d "$CACHE/source-$LLAMA" ] || {
    git clone --quiet "$CACHE/node-llama-cpp-$VERSION/llama/gitRelease.bundle" "$CACHE/source.tmp" 2>/dev/null
    mv "$CACHE/source.tmp" "$CACHE/source-$LLAMA"
  }
  rm -rf "$out.tmp"; mkdir -p "$out.tmp/include/llama-common" "$out.tmp/include/vendor"
  src="$CACHE/source-$LLAMA"
  cp "$src"/include/*.h "$src"/ggml/include/*.h "$src"/src/llama-ext.h "$out.tmp/include/"
  (cd "$src/common" && find . -name "*.h" -print0 | tar cf - --null -T -) | tar xf - -C "$out.tmp/include/llama-common"
  cp -r "$src"/vendor/{nlohmann,cpp-httplib} "$out.tmp/include/vendor/"
  ln -s "$CACHE/$platform-$VERSION/bins/$platform" "$out.tmp/lib"
  ln -s "$src" "$out.tmp/src"
  echo "llama.cpp $LLAMA ($platform, prebuilt)" > "$out.tmp/version"
  rm -rf "$out"; mv "$out.tmp" "$out"
fi
echo "$out"
