#!/usr/bin/env bash
# tests/web/run.sh FILE.test.mjs: runs one file of tests of the page in a real browser: chromium from the
# PATH, driven by playwright-core, which comes from the npm registry as the lock file says. Pictures of the
# page are left in build/web-screenshots. Status 77: left out, because there is no registry or no chromium.
set -euo pipefail
cd "$(dirname "$0")"
NAME=web
# shellcheck source=../../scripts/npm.sh
. ../../scripts/npm.sh

CHROMIUM="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}"
[ -n "$CHROMIUM" ] || skip "chromium is missing: apt-get install chromium"
export CHROMIUM
npm_install ../../build/web-test-install.lock
find_node 20 0 ../sdk
exec "$node" --test --test-reporter=spec "$@"
