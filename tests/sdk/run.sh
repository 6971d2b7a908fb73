#!/usr/bin/env bash
# tests/sdk/run.sh FILE.test.mjs: runs one file of tests with the pinned client libraries, which it
# installs from the npm registry first if they are not there as the lock file says. Status 77 says that
# the tests were left out, because the registry cannot be reached or there is no npm.
set -euo pipefail
cd "$(dirname "$0")"

skip() {
  echo "sdk: skipped: $*"
  exit 77
}

node_fits() { "$1" -e 'process.exit(+process.versions.node.split(".")[0] >= 22 ? 0 : 1)' 2>/dev/null; }

install() {
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
    skip "$(npm config get registry) cannot be reached, and the client libraries are not installed"
  echo "sdk: error: the registry is there, but npm ci fails: see above" >&2
  exit 1
}

mkdir -p ../../build
stamp=node_modules/.installed
(
  flock 9
  if ! cmp -s package-lock.json "$stamp"; then
    install
    cp package-lock.json "$stamp"
  fi
) 9>../../build/sdk-install.lock

# The libraries want Node 22. Where the system has an older one, npm has brought one.
node=node_modules/.bin/node
node_fits "$node" || node="$(command -v node || true)"
[ -n "$node" ] && node_fits "$node" || skip "Node 22 or later is missing"
exec "$node" --test --test-reporter=spec "$@"
