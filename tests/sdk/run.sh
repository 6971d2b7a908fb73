#!/usr/bin/env bash
# tests/sdk/run.sh FILE.test.mjs: runs one file of tests with the pinned client libraries, which it
# installs from the npm registry first if they are not there as the lock file says. Status 77 says that
# the tests were left out, because the registry cannot be reached or there is no npm.
set -euo pipefail
cd "$(dirname "$0")"
NAME=sdk
# shellcheck source=../../scripts/npm.sh
. ../../scripts/npm.sh

npm_install ../../build/sdk-install.lock
find_node 22 0 . # the libraries want it; where the system has an older one, npm has brought one
exec "$node" --test --test-reporter=spec "$@"
