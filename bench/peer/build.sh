#!/usr/bin/env bash
# Builds build/peer/llama-server for comparisons (several minutes of compiling).
set -euo pipefail
cd "$(dirname "$0")/../.."
llama="$(scripts/llama.sh)"
cmake -S bench/peer -B build/peer -G Ninja -DCMAKE_BUILD_TYPE=Release -DSAMOVAR_LLAMA_DIR="$llama" >/dev/null
ninja -C build/peer ${JOBS:+-j$JOBS}
# The backends are looked for beside the program.
ln -sf "$llama"/lib/libggml-* build/peer/
echo "build/peer/llama-server"
