#!/usr/bin/env bash
# Measures Samovar against llama-server 0.4.0, built from the same source and the same libraries, on the
# same model with the same flags, and writes docs/benchmarks/: index.md, report.html, report.json,
# report.csv. Both servers are started here, on loopback, and ended by their own process ids. About 25
# minutes on two cores; nothing else should run meanwhile.
#
#   scripts/benchmark.sh            everything
#   scripts/benchmark.sh --quick    the same with short contexts, into build/benchmarks/; 5 minutes
#
# When a step fails, the report has what was measured, and the servers' logs are kept.
#
# MODEL (build/models/tiny-qwen35moe.gguf), THREADS (all cores), OUT choose otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=""
case "${1:-}" in
  "") ;;
  --quick) quick=yes ;;
  *)
    echo "benchmark: error: unknown option $1 (there is --quick)" >&2
    exit 2
    ;;
esac
say() { echo "benchmark: $*" >&2; }
die() {
  say "error: $*"
  exit 1
}

model="${MODEL:-build/models/tiny-qwen35moe.gguf}"
threads="${THREADS:-$(getconf _NPROCESSORS_ONLN)}"
if [ -n "$quick" ]; then
  out="${OUT:-build/benchmarks}"
  context=16384
  depths=1k,2k,4k
  rounds=3
  counts=(--cold-rounds 2 --edit-rounds 2 --restart-rounds 2)
  estimate="5 minutes"
  session_context=4096
  sessions=(--depth 1k --sessions 6 --rounds 1)
else
  out="${OUT:-docs/benchmarks}"
  context=131072
  depths=6k,30k,100k
  rounds=7
  # A cold prompt of 100k takes each server a minute and a half, and the peer has no other after a
  # restart: one or two rounds there, which are never called a win or a loss.
  # shellcheck disable=SC2054  # commas belong to the values
  counts=(--cold-rounds 5,3,2 --edit-rounds 3,3,1 --restart-rounds 3,3,1)
  estimate="25 minutes with the tiny model on two cores"
  session_context=24576
  sessions=(--depth 5k --sessions 8 --rounds 1)
fi

# --- what is needed ---

for tool in curl jq; do
  command -v "$tool" >/dev/null || die "$tool is missing: run make setup"
done
[ -x build/samovar ] || scripts/build.sh release samovar
[ -f "$model" ] || scripts/models.sh
[ -f "$model" ] || die "$model is missing: run make models"
[ -x build/peer/llama-server ] || bench/peer/build.sh >&2

# In build/, not in TMPDIR: that may be in memory, where nothing comes from a disk.
mkdir -p build
work="$(mktemp -d build/benchmark-XXXXXX)"
work="$(cd "$work" && pwd)"

# A port that nobody listens on, from NUMBER on: a server that is there already must not be measured.
free_port() { # NUMBER
  local port="$1"
  while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 2)); done
  echo "$port"
}
ours_port="$(free_port 18571)"
peer_port="$(free_port 18572)"

# --- the servers ---

# control NAME start|restart|stop: its process id is kept in a file, for this script and for the
# commands that `samovar bench` runs to restart it.
cat >"$work/control" <<'CONTROL'
#!/bin/sh
# The command's words are in NAME.command, one a line.
cd "$(dirname "$0")"
name=$1
if [ -f "$name.pid" ]; then
  pid=$(cat "$name.pid")
  kill -TERM "$pid" 2>/dev/null
  tries=0
  while kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -le 600 ] || { echo "$name does not end" >&2; exit 1; }
    sleep 0.1
  done
  rm -f "$name.pid"
fi
[ "$2" = stop ] && exit 0
root=$(cat root)
set --
while IFS= read -r word; do set -- "$@" "$word"; done <"$name.command"
log=$PWD/$name.log
pid_file=$PWD/$name.pid
cd "$root" || exit 1
"$@" >>"$log" 2>&1 </dev/null &
pid=$!
echo "$pid" >"$pid_file"
sleep 0.3
kill -0 "$pid" 2>/dev/null || { echo "$name ended at once: see $log" >&2; exit 1; }
CONTROL
chmod +x "$work/control"
pwd >"$work/root"

finish() {
  local code=$?
  "$work/control" samovar stop || true
  "$work/control" llama-server stop || true
  if [ "$code" -eq 0 ] || [ "$code" -eq 130 ]; then
    rm -rf "$work"
  else
    rm -rf "$work/store"
    say "the servers' logs are in $work"
  fi
}
trap finish EXIT
trap 'exit 130' INT TERM

# Both with the same context, threads and model; everything else as each has it by default.
start_servers() { # CONTEXT
  "$work/control" samovar stop && "$work/control" llama-server stop || return 1
  rm -rf "$work/store"
  printf '%s\n' build/samovar serve -m "$model" -c "$1" -t "$threads" --port "$ours_port" \
    --store-dir "$work/store" >"$work/samovar.command"
  printf '%s\n' build/peer/llama-server -m "$model" -c "$1" -t "$threads" -ngl 0 \
    --port "$peer_port" >"$work/llama-server.command"
  "$work/control" samovar restart && "$work/control" llama-server restart
}

# The model's weights are random. What it says is often no sound UTF-8, at which llama-server fails, and
# does not come back as the tokens it was. So the token of one word is given all the weight, on both
# servers alike: replies are that word, and decoding costs what it always does. The history has fixed
# replies (docs/bench.md).
find_word() { # leaves its token in $word
  local tries
  for tries in $(seq 600); do
    word="$(curl -sf "http://127.0.0.1:$ours_port/tokenize" -d '{"content": " tea"}' |
      jq -r '.tokens[0] // empty' || true)"
    [ -z "$word" ] || return 0
    sleep 0.2
  done
  die "samovar does not start: $(tail -n 5 "$work/samovar.log")"
}

failed=""
measure() { # COMMAND NAME OPTIONS...
  local command="$1" name="$2"
  shift 2
  build/samovar bench "$command" \
    --against "samovar=http://127.0.0.1:$ours_port" \
    --against "llama-server=http://127.0.0.1:$peer_port" \
    --restart-cmd "samovar=${work@Q}/control samovar restart" \
    --restart-cmd "llama-server=${work@Q}/control llama-server restart" \
    --store-dir "samovar=$work/store" \
    --flags "samovar=-c $server_context -t $threads" \
    --flags "llama-server=-c $server_context -t $threads -ngl 0" \
    --replies fixed --extra "{\"logit_bias\": {\"$word\": 100}}" --json "$work/$name.json" "$@" >"$work/$name.txt" && return 0
  say "$command failed: $(tail -n 5 "$work/$name.txt"; tail -n 5 "$work/"*.log)"
  failed=yes
}

began=$SECONDS
say "about $estimate"
server_context=$context
start_servers $context
find_word
measure all one --depth $depths --rounds $rounds "${counts[@]}" \
  --steps cold,decode,resident,side,edit,restart_warm,restart_cold
server_context=$session_context
if start_servers $session_context; then
  measure sessions two "${sessions[@]}"
else
  failed=yes
fi

# --- the report ---

runs=()
for name in one two; do [ ! -s "$work/$name.json" ] || runs+=("$work/$name.json"); done
[ ${#runs[@]} -gt 0 ] || die "nothing was measured"
mkdir -p "$out"
commit="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
[ -z "$(git status --porcelain 2>/dev/null -- src | head -n 1)" ] || commit="$commit, changed"
build/samovar bench report "${runs[@]}" --note "commit=$commit" \
  --note "script=scripts/benchmark.sh ${1:-}" --reasons docs/benchmarks/notes \
  --markdown "$out/index.md" --html "$out/report.html" --json "$out/report.json" \
  --csv "$out/report.csv"
say "$out/ was written in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s"
[ -z "$failed" ] || die "not everything was measured; $out/ has what was"
