# scripts/npm.sh, to be sourced: packages from the npm registry, as a folder's lock file says, for tests
# that can be left out. NAME says in messages who asks. Status 77 tells ctest that a test was left out.

skip() {
  echo "$NAME: skipped: $*"
  exit 77
}

# npm_install LOCK: installs what ./package-lock.json says, if it is not there; LOCK is a file for flock.
npm_install() {
  local stamp=node_modules/.installed
  mkdir -p "$(dirname "$1")"
  (
    flock 9
    cmp -s package-lock.json "$stamp" && exit 0
    npm_ci
    cp package-lock.json "$stamp"
  ) 9>"$1"
}

npm_ci() {
  command -v npm >/dev/null || skip "npm is missing: run make setup"
  local log
  log="$(mktemp)"
  # Registries fail for a moment now and then.
  if npm ci --no-audit --no-fund --loglevel=error --fetch-timeout=60000 --fetch-retries=1 \
    --fetch-retry-mintimeout=2000 >"$log" 2>&1; then
    rm "$log"
    return
  fi
  cat "$log" >&2
  rm "$log"
  npm ping --fetch-retries=0 --fetch-timeout=10000 >/dev/null 2>&1 ||
    skip "$(npm config get registry) cannot be reached, and its packages are not installed"
  echo "$NAME: error: the registry is there, but npm ci fails: see above" >&2
  exit 1
}

# find_node MAJOR MINOR FOLDER...: sets `node` to the first that is new enough: of the folders, in which npm
# may have installed one, then of the system.
find_node() {
  local major="$1" minor="$2" folder fits
  shift 2
  fits='const [a, b] = process.versions.node.split(".").map(Number);
        process.exit(a > +process.argv[1] || (a == +process.argv[1] && b >= +process.argv[2]) ? 0 : 1)'
  for folder in "$@" ""; do
    node="${folder:+$folder/node_modules/.bin/node}"
    node="${node:-$(command -v node || true)}"
    [ -n "$node" ] && "$node" -e "$fits" "$major" "$minor" 2>/dev/null && return
  done
  skip "Node $major.$minor or later is missing"
}
