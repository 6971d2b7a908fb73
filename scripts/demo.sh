#!/usr/bin/env bash
# Starts the server on the tiny test model, holds a three-turn conversation with it over HTTP and shows
# what each turn cost. The model's weights are random, so it answers gibberish; the server's work is
# that for a real model of this kind.
#
# scripts/demo.sh          ends the server; status 1 if a follow-up computed more than its new tokens
# scripts/demo.sh --stay   leaves it running until Ctrl-C
# SAMOVAR_PORT (default 8080, or a free one if that is taken) is where it listens.
set -euo pipefail
cd "$(dirname "$0")/.."

model=build/models/tiny-qwen35moe.gguf
log=build/demo-server.log
stay="${1:-}"
reply_tokens=48
slack=128 # tokens that a follow-up may compute beyond the new ones: a prompt is cut at fixed places

say() { echo "demo: $*"; }
die() {
  echo "demo: error: $*" >&2
  exit 1
}
for tool in curl jq; do
  command -v "$tool" >/dev/null || die "$tool is missing: run make setup"
done
[ -x build/samovar ] || die "build/samovar is missing: run make build"
[ -f "$model" ] || die "$model is missing: run make models"

# --- the server: our child, in its own process group so that Ctrl-C reaches it once, through us ---

server=""
stop_server() {
  if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  server=""
  rm -rf "$work"
}
work="$(mktemp -d)"
trap stop_server EXIT
trap 'exit 130' INT TERM

start_server() {
  set -m
  build/samovar serve -m "$model" --port "$1" -c 65536 --no-store >"$log" 2>&1 </dev/null &
  server=$!
  set +m
  url=""
  while kill -0 "$server" 2>/dev/null; do
    url="$(sed -n 's/^listening on \(http[^ ]*\)$/\1/p' "$log")"
    if [ -n "$url" ] && curl -sf -o /dev/null "$url/ready"; then return 0; fi
    sleep 0.1
  done
  return 1
}

say "starting the server on $model"
if ! start_server "${SAMOVAR_PORT:-8080}"; then
  [ -z "${SAMOVAR_PORT:-}" ] || {
    tail -n 20 "$log" >&2
    die "the server did not start on port $SAMOVAR_PORT: see above"
  }
  start_server 0 || {
    tail -n 20 "$log" >&2
    die "the server did not start: see above, and $log"
  }
fi

# --- the conversation ---

ask() { # QUESTION: adds it and the reply to the messages, leaves the response in $work/response
  jq --arg text "$1" '. + [{role: "user", content: $text}]' "$work/messages" >"$work/next"
  jq '{messages: ., max_tokens: '$reply_tokens', temperature: 0,
    chat_template_kwargs: {enable_thinking: false}}' "$work/next" >"$work/request"
  curl -sS --fail-with-body -H 'Content-Type: application/json' -d @"$work/request" \
    "$url/v1/chat/completions" >"$work/response" ||
    die "the server refused the turn: $(cat "$work/response")"
  jq --slurpfile messages "$work/next" \
    '$messages[0] + [{role: "assistant", content: (.choices[0].message.content // "")}]' \
    "$work/response" >"$work/messages"
}

show() { # TURN: one line of the table
  jq -r --argjson turn "$1" '
    def pad(width): tostring | (" " * ([width - length, 0] | max)) + .;
    def rate: if . == null then "-" else "\(. | round) tok/s" end | pad(12);
    "\($turn | pad(6))\(.usage.prompt_tokens | pad(9))" +
    "\(.usage.prompt_tokens_details.cached_tokens | pad(9))\(.timings.prefill_tokens | pad(10))" +
    "\("\(.timings.first_token_ms | round) ms" | pad(13))" +
    "\(.timings.prefill_per_second | rate)\(.timings.decode_per_second | rate)"' "$work/response"
}

jq -n --rawfile context LICENSE '[{role: "system",
  content: ("You are a careful assistant. Answer questions about this licence.\n\n" + $context)}]' >"$work/messages"

echo
echo "  turn   prompt   reused  computed  first token     prefill      decode"
failed=""
turn=0
before=0
for question in "What may I do with this software?" "And if I change it?" "Who pays when it breaks?"; do
  turn=$((turn + 1))
  ask "$question"
  show "$turn"
  prompt="$(jq .usage.prompt_tokens "$work/response")"
  computed="$(jq .timings.prefill_tokens "$work/response")"
  if [ "$turn" -gt 1 ] && [ "$computed" -gt $((prompt - before + slack)) ]; then failed="$failed $turn"; fi
  before="$prompt"
done
echo

if [ -n "$failed" ]; then
  die "follow-up turns computed more than their new tokens and $slack:$failed"
fi
say "the follow-ups computed only what was new"
if [ "$stay" = --stay ]; then
  say "serving at $url until Ctrl-C (log: $log). Try:"
  echo
  echo "  curl $url/v1/chat/completions -d '{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"max_tokens\":48}'"
  echo
  trap 'exit 0' INT TERM
  wait "$server" || die "the server ended: see $log"
fi
