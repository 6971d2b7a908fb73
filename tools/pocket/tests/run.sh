#!/usr/bin/env bash
# tools/pocket/tests/run.sh NAME: one of the unit tests beside this file. Status 77 says that it was left
# out, because there is no PyTorch.
set -euo pipefail
cd "$(dirname "$0")"

# Debian's PyTorch belongs to Debian's python3, which need not be the first one in PATH.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import torch, numpy' 2>/dev/null; then exec "$python" -m unittest "$1"; fi
done
echo "pocket: skipped: no python3 with PyTorch: apt-get install python3-torch"
exit 77
