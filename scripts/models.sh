#!/usr/bin/env bash
# scripts/models.sh [NAME...]: makes build/models/<size>-<arch>.gguf with samovar-mkmodel, those that
# are missing or older than the program. Without names: the tiny ones; `all`: every one that the tests
# and measurements use.
set -euo pipefail
cd "$(dirname "$0")/.."

tiny="tiny-qwen35moe tiny-qwen35 tiny-qwen3 tiny-gemma3 tiny-granitehybrid"
large="small-qwen35moe small-qwen35 mid-qwen35"
names="${*:-$tiny}"
[ "$names" != all ] || names="$tiny $large"

program=build/samovar-mkmodel
if [ ! -x "$program" ]; then
  echo "models: error: $program is missing: run make build" >&2
  exit 1
fi
mkdir -p build/models
for name in $names; do
  file="build/models/$name.gguf"
  if [ ! -f "$file" ] || [ "$program" -nt "$file" ]; then
    "$program" --size "${name%%-*}" --arch "${name#*-}" --out "$file"
  fi
done
echo "models: ready in build/models: $names"
