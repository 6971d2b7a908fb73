#!/usr/bin/env bash
# scripts/build.sh [PRESET [TARGET...]]: brings llama.cpp, configures and builds a CMake preset
# (default release, which lives in build/). Idempotent: configuring takes a second, and ninja builds
# only what changed.
set -euo pipefail
cd "$(dirname "$0")/.."

preset="${1:-release}"
[ $# = 0 ] || shift
die() {
  echo "build: error: $*" >&2
  exit 1
}
command -v cmake >/dev/null || die "cmake is missing: run make setup"

SAMOVAR_LLAMA_DIR="$(scripts/llama.sh)" || exit 1
export SAMOVAR_LLAMA_DIR
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  die "cmake does not configure preset '$preset': see above. If a library is missing, run make setup"
fi

# The heaviest files take about 1 GB of compiler memory.
jobs="$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)"
if [ -r /proc/meminfo ]; then
  fit="$(awk '/^MemAvailable:/ { print int($2 / 1000000) }' /proc/meminfo)"
  [ "$fit" -ge 1 ] || fit=1
  [ "$jobs" -le "$fit" ] || jobs="$fit"
fi
if [ $# -gt 0 ]; then
  cmake --build --preset "$preset" -j "$jobs" --target "$@"
else
  cmake --build --preset "$preset" -j "$jobs"
fi || die "preset '$preset' does not build: see the first error above"
