#!/usr/bin/env bash
# scripts/web.sh [--check]: builds the page (web/) into web/dist, which is committed, so that a C++ build needs
# no Node. With --check it builds elsewhere and says whether web/dist is what the source makes; status 77:
# left out, because there is no registry or no Node.
set -euo pipefail
cd "$(dirname "$0")/../web"
NAME=web
# shellcheck source=npm.sh
. ../scripts/npm.sh

npm_install ../build/web-install.lock
find_node 20 19 ../tests/sdk
"$node" node_modules/svelte-check/bin/svelte-check --tsconfig ./tsconfig.json --fail-on-warnings \
  --output human >&2
build() { "$node" node_modules/vite/bin/vite.js build --logLevel warn --emptyOutDir "$@"; }

if [ "${1:-}" != --check ]; then
  build
  echo "web: web/dist is built"
  exit 0
fi
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT
build --outDir "$made"
diff -rq dist "$made" || {
  echo "web: error: web/dist is not what web/src makes: run make web, and commit web/dist" >&2
  exit 1
}
echo "web: web/dist is what web/src makes"
