#!/usr/bin/env bash
# What Samovar is for, shown with Pocket, the small model in the box: it is told three things, talks about
# others for a few thousand tokens, the server stops and starts, and it is asked. Right answers say that
# the memory came back whole; the table says what that cost.
#
# scripts/demo.sh          ends the server; status 1 if an answer was wrong or computed what was known
# scripts/demo.sh --stay   leaves it running until Ctrl-C
# SAMOVAR_PORT (default 8080, or a free one if that is taken) is where it listens.
set -euo pipefail
cd "$(dirname "$0")/.."

log=build/demo-server.log
stay="${1:-}"
port="${SAMOVAR_PORT:-8080}"
wanted=3000 # tokens of talk between what is told and what is asked
slack=128   # tokens that a question may compute beyond its own: a prompt is cut at fixed places

told=("Hello! My name is Nora." "We have a dog, his name is Bruno." "My locker number is 4711.")
asked=("What is my name?" "What is our dog called?" "Which number does my locker have?")
right=("Nora" "Bruno" "4711")

say() { echo "demo: $*"; }
die() {
  echo "demo: error: $*" >&2
  exit 1
}
for tool in curl jq; do
  command -v "$tool" >/dev/null || die "$tool is missing: run make setup"
done
[ -x build/samovar ] || die "build/samovar is missing: run make build"

# --- the server: our child, in its own process group so that Ctrl-C reaches it once, through us ---

server=""
stop_server() {
  if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  server=""
}
work="$(mktemp -d)"
trap 'stop_server; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

try_start() { # PORT
  set -m
  env -u SAMOVAR_API_KEY build/samovar serve --port "$1" --store-dir "$work/store" >"$log" 2>&1 </dev/null &
  server=$!
  set +m
  url=""
  while kill -0 "$server" 2>/dev/null; do
    url="$(sed -n 's/^listening on \(http[^ ]*\)$/\1/p' "$log")"
    if [ -n "$url" ] && curl -sf -o /dev/null "$url/ready"; then return 0; fi
    sleep 0.05
  done
  return 1
}

start_server() {
  if try_start "$port"; then return; fi
  if [ -n "${SAMOVAR_PORT:-}" ] || ! { port=0 && try_start 0; }; then
    tail -n 20 "$log" >&2
    die "the server did not start: see above, and $log"
  fi
}

# --- the conversation ---

ask() { # TEXT: adds it and the reply to the messages, leaves the response in $work/response
  jq --arg text "$1" '. + [{role: "user", content: $text}]' "$work/messages" >"$work/next"
  jq '{messages: ., max_tokens: 120, chat_template_kwargs: {enable_thinking: false}}' "$work/next" |
    curl -sS --fail-with-body -H 'Content-Type: application/json' -d @- \
      "$url/v1/chat/completions" >"$work/response" ||
    die "the server refused the turn: $(cat "$work/response")"
  jq --slurpfile messages "$work/next" \
    '$messages[0] + [{role: "assistant", content: (.choices[0].message.content // "")}]' \
    "$work/response" >"$work/messages"
}

reply() { jq -r '.choices[0].message.content' "$work/response"; }
figure() { jq -r "$1" "$work/response"; }

say "starting the server; without a model it serves Pocket, which comes with Samovar"
start_server
echo '[]' >"$work/messages"
echo
for text in "${told[@]}"; do
  ask "$text"
  printf '  > %s\n  %s\n' "$text" "$(reply)"
done

exchanges=0
begin=$(figure .usage.total_tokens)
while IFS= read -r text && [ $(($(figure .usage.total_tokens) - begin)) -lt "$wanted" ]; do
  ask "$text"
  exchanges=$((exchanges + 1))
done < <(jq -r '.[][0] | gsub("\n"; " ")' tools/pocket/probes/chatter.json)
before=$(figure .usage.total_tokens)
echo
say "talked about other things: $exchanges exchanges, $((before - begin)) tokens. Stopping and starting the server"
stop_server
start_server

echo
printf '  %-34s %-30s %8s %8s %9s %12s\n' "asked after the restart" answer prompt reused computed "first token"
failed=""
for i in "${!asked[@]}"; do
  ask "${asked[$i]}"
  prompt=$(figure .usage.prompt_tokens)
  computed=$(figure .timings.prefill_tokens)
  printf '  %-34s %-30s %8s %8s %9s %9s ms\n' "${asked[$i]}" "$(reply)" "$prompt" \
    "$(figure .usage.prompt_tokens_details.cached_tokens)" "$computed" "$(figure '.timings.first_token_ms | round')"
  [[ "$(reply)" == *"${right[$i]}"* ]] || failed+=" '${asked[$i]}' was not answered with ${right[$i]}."
  [ "$computed" -le $((prompt - before + slack)) ] || failed+=" '${asked[$i]}' computed what was known."
  before=$(figure .usage.total_tokens)
done
echo
[ -z "$failed" ] || die "$failed"
say "it remembers, and computed only what was new"

if [ "$stay" = --stay ]; then
  say "serving at $url until Ctrl-C (log: $log). Talk with it: build/samovar chat --url $url. A real model:"
  echo
  echo "  build/samovar serve -hf unsloth/Qwen3.5-4B-GGUF:Q4_K_M"
  echo
  trap 'exit 0' INT TERM
  wait "$server" || die "the server ended: see $log"
fi
