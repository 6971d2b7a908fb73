#!/usr/bin/env bash
# What the types of K/V cost in quality, with Pocket: recall over HTTP and perplexity, as the table of
# docs/quality.md. About two minutes a row.
#
# scripts/quality.sh [K/V ...]    rows such as q8_0/q4_0; all of the table if none is given
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
  echo "quality: error: $*" >&2
  exit 1
}
for program in build/samovar build/samovar-enginebench; do
  [ -x "$program" ] || die "$program is missing: run make build"
done

rows=("$@")
[ $# -gt 0 ] || rows=(f16/f16 bf16/bf16 q8_0/q8_0 q5_0/q5_0 q4_0/q4_0 iq4_nl/iq4_nl q4_0/f16 f16/q4_0)
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

python3 tools/pocket/texts.py 4 3500 >"$work/text"
echo "| K / V | recall 300 | recall 1,000 | recall 4,000 | perplexity | in the last quarter |"
echo "|---|---|---|---|---|---|"
for row in "${rows[@]}"; do
  k="${row%/*}"
  v="${row#*/}"
  python3 tools/pocket/evaluate.py models/pocket.gguf --mode trained --only recall --flags="-ctk $k -ctv $v" \
    --json "$work/scores" >/dev/null
  recall="$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["categories"]
rows = [rows["recall %d" % distance] for distance in (300, 1000, 4000)]
print(" | ".join("%d of %d" % (row["right"], row["of"]) for row in rows))
' "$work/scores")"
  perplexity="$(build/samovar-enginebench -m models/pocket.gguf --mode perplexity --text "$work/text" -t 1 \
    -ctk "$k" -ctv "$v" | sed -nE 's/.*texts: ([0-9.]+); of the last quarters: ([0-9.]+)/\1 | \2/p')"
  [ -n "$perplexity" ] || die "samovar-enginebench said no perplexity with $row"
  echo "| $k / $v | $recall | $perplexity |"
done
