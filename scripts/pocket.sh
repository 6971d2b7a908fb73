#!/usr/bin/env bash
# Makes models/pocket.gguf from nothing: trains (two and a half hours on two cores; an interrupted
# run goes on), exports, scores and writes the model card. The steps by themselves: tools/pocket/README.md.
#
# scripts/pocket.sh         all of it
# scripts/pocket.sh score   exports and scores what build/pocket/checkpoint.pt holds
# SCALE (default 1) is the share of the training steps; PROBES (default all) how many probes of each set
# are asked. What a smaller run makes stays in build/pocket.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "pocket: $*"; }
die() {
  echo "pocket: error: $*" >&2
  exit 1
}

# Debian's PyTorch belongs to Debian's python3, which need not be the first one in PATH.
find_python() {
  local python
  for python in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$python" -c 'import torch, numpy' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  die "no python3 with PyTorch: apt-get install python3-torch python3-numpy libopenblas0-pthread"
}

python="$(find_python)"
work=build/pocket
scale="${SCALE:-1}"
[ -x build/samovar ] || die "build/samovar is missing: run make build"
template="$(scripts/llama.sh | tail -1)/src/models/templates/Qwen3.5-4B.jinja"
[ -f "$template" ] || die "$template is missing: it comes with the sources of llama.cpp"

if [ "${1:-}" != score ]; then
  say "training, scale $scale, in $work (log: $work/log.jsonl)"
  "$python" tools/pocket/train.py --out "$work" --scale "$scale"
fi

[ -f "$work/checkpoint.pt" ] || die "$work/checkpoint.pt is missing: run scripts/pocket.sh without 'score'"
made="$work/made"
mkdir -p "$made"
"$python" tools/pocket/export.py "$work/checkpoint.pt" "$work/tokenizer.json" "$template" "$made/pocket.gguf"
"$python" tools/pocket/export.py "$work/checkpoint.pt" "$work/tokenizer.json" "$template" "$made/f32/pocket.gguf" --f32
for folder in "$made/f32" "$made"; do
  say "llama.cpp against the training code: $folder"
  SAMOVAR_POCKET="$PWD/$folder" build/pocket_test
done

evaluate() { "$python" tools/pocket/evaluate.py "$made/pocket.gguf" ${PROBES:+--limit "$PROBES"} "$@"; }
score() { # MODE: its tables. The servers compute with one thread each, so two of these go well together.
  evaluate --mode "$1" --json "$made/$1.json"
  evaluate --mode "$1" --thinking off --json "$made/$1-off.json"
  evaluate --mode "$1" --restart --json "$made/$1-restart.json"
}
score heldout >"$made/heldout.txt" &
other=$!
trap 'kill "$other" 2>/dev/null || true; wait' EXIT
trap 'exit 130' INT TERM
score trained
wait "$other"
trap - EXIT
cat "$made/heldout.txt"
evaluate --chat tools/pocket/freechat.txt --json "$made/chat.json"
"$python" tools/pocket/card.py "$made" "$work/log.jsonl" >"$made/README.md"

if [ "$scale" = 1 ] && [ -z "${PROBES:-}" ]; then
  mkdir -p models
  cp "$made/pocket.gguf" "$made/pocket.logits" "$made/README.md" models/
  (cd models && sha256sum pocket.gguf >SHA256SUMS)
  say "ready in models/, with the model card models/README.md; make build lets Samovar know the new file"
else
  say "ready in $made"
fi
