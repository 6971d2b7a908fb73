#!/usr/bin/env bash
# scripts/fuzz.sh TARGET [SECONDS]: builds tests/fuzz/fuzz_TARGET.cc with clang's libFuzzer, AddressSanitizer
# and UBSan in build/fuzz and runs it (default 60 seconds; 0: only build), from the committed corpus and
# what earlier runs found. TARGET: segment, snapshot, ..., or all, for SECONDS each. An input that fails
# is left in build/fuzz/crashes. Of llama.cpp it needs one header that comes with it, nlohmann/json.hpp.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
  echo "fuzz: error: $*" >&2
  exit 1
}
targets() { for file in tests/fuzz/fuzz_*.cc; do basename "$file" .cc | sed 's/^fuzz_//'; done; }
[ $# -ge 1 ] || die "which target? One of: $(targets | xargs) all"
command -v clang++-19 >/dev/null || die "clang++-19 is missing: apt-get install clang-19 libclang-rt-19-dev"

name="${1#fuzz_}"
seconds="${2:-60}"
out=build/fuzz
compiler="clang++-19"
! command -v ccache >/dev/null || compiler="ccache clang++-19"
vendor="$(scripts/llama.sh)/include/vendor" || die "llama.cpp's headers are missing: see above"
flags="-std=c++23 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
  -Isrc -I. -isystem $vendor -DFMT_SHARED -DSPDLOG_SHARED_LIB -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL
  -DSAMOVAR_LIBFUZZER"
libraries="-lspdlog -lfmt -lcrypto -lsqlite3 -pthread"

# Everything below llama.cpp that a target may need; the archive gives each only what it uses.
sources() {
  find src/base src/core src/fs src/store -name '*.cc' ! -name '*_test.cc'
  ls src/api/{chat_messages,chat_request,chat_sampling,json_fields,json_outline,json_text}.cc
  ls src/api/{completions_request,message_memo,messages_blocks,messages_request,messages_tools}.cc
  ls src/api/{outlined_body,token_list}.cc
  ls src/api/{response_items,responses_input,responses_request,responses_settings,responses_tools}.cc
  ls src/replay/{chat_json,histories,pseudo_text,redact_json,redactor,schedule}.cc
  ls src/replay/{text_pieces,trace_fields,trace_lines,trace_reader}.cc
  ls tests/support/sim_*.cc tests/support/blobs.cc
  find tests/fuzz -name '*.cc' ! -name '*_test.cc'
}
build() {
  rm -rf "$out/objects"
  mkdir -p "$out/objects"
  # shellcheck disable=SC2016,SC2086 # the inner shell expands; flags are words
  sources | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I SOURCE sh -c '
    source="$1"; object="$2/$(echo "$source" | tr / _).o"; shift 2
    exec "$@" -fsanitize=fuzzer-no-link -c "$source" -o "$object"
  ' sh SOURCE "$out/objects" $compiler $flags || die "does not build: see above"
  rm -f "$out/code.a"
  find "$out/objects" -name '*.o' ! -name 'tests_fuzz_fuzz_*' -print0 | xargs -0 ar rcs "$out/code.a"
}
run() {
  [ -f "tests/fuzz/fuzz_$1.cc" ] || die "no target '$1'. One of: $(targets | xargs) all"
  # shellcheck disable=SC2086
  clang++-19 -fsanitize=fuzzer,address,undefined "$out/objects/tests_fuzz_fuzz_$1.cc.o" "$out/code.a" \
    $libraries -o "$out/fuzz_$1"
  [ "$seconds" != 0 ] || return 0
  mkdir -p "$out/corpus/$1" "$out/crashes"
  echo "fuzz: $1, $seconds seconds"
  "$out/fuzz_$1" -max_total_time="$seconds" -max_len=32768 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$1-" "$out/corpus/$1" "tests/fuzz/corpus/$1" \
    >"$out/$1.log" 2>&1 || { tail -60 "$out/$1.log" >&2; die "$1 failed; its input is in $out/crashes"; }
  grep -E 'stat::number_of_executed_units|^#[0-9]+.*DONE' "$out/$1.log"
}

build
if [ "$name" = all ]; then
  for target in $(targets); do run "$target"; done
else
  run "$name"
fi
