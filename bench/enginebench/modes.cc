#include "modes.h"

#include <cmath>

#include "engine/logits.h"
#include "subjects.h"

namespace samovar::bench {
namespace {

constexpr int kIdle = 15;          // idle conversations in mode beside
constexpr Position kCopied = 512;  // their tokens are copied this many at a time
constexpr int kSession = 1000;     // tokens of the conversation that decodes in mode beside

Token decode_one(LlamaEngine& engine, SeqId sequence, Token token) {
  const DecodeStep step{.sequence = sequence, .position = engine.length(sequence), .token = token};
  must(engine.decode({&step, 1}), "decode");
  return most_likely(engine.logits(0));
}

// Decodes `reply` tokens after a fresh prompt in sequence 0 and drops it.
double decode_rate(LlamaEngine& engine, const Tokens& prompt, int reply) {
  fill(engine, 0, prompt);
  Token token = most_likely(engine.logits(0));
  const Micros began = system_clock().now();
  for (int i = 0; i < reply; ++i) {
    token = decode_one(engine, 0, token);
  }
  const Micros took = system_clock().now() - began;
  engine.drop(0);
  return tokens_per_second(reply, took);
}

double ms_since(Micros began) { return to_ms(system_clock().now() - began); }

}  // namespace

void run_speed(const BenchOptions& options) {
  const auto bare = make_bare_subject(options);
  const auto samovar = make_samovar_subject(options);
  std::vector<double> prefill_bare;
  std::vector<double> prefill_samovar;
  std::vector<double> decode_bare;
  std::vector<double> decode_samovar;
  const auto measure = [&](Subject& subject, const Tokens& prompt, std::vector<double>& prefill,
                           std::vector<double>& decode) {
    const Run run = subject.answer(prompt, options.reply);
    prefill.push_back(tokens_per_second(options.prompt, run.prefill));
    if (run.replied > 1) {
      decode.push_back(tokens_per_second(run.replied - 1, run.decode));
    }
    if (run.replied < options.reply) {
      fmt::print("  note: the model ended its reply after {} tokens\n", run.replied);
    }
  };
  for (int round = -1; round < options.rounds; ++round) {
    if (round == 0) {  // the first one warmed caches and threads
      prefill_bare.clear();
      prefill_samovar.clear();
      decode_bare.clear();
      decode_samovar.clear();
    }
    const Tokens prompt = random_tokens(static_cast<std::uint32_t>(round + 100), options.prompt);
    if (round % 2 == 0) {
      measure(*bare, prompt, prefill_bare, decode_bare);
    }
    measure(*samovar, prompt, prefill_samovar, decode_samovar);
    if (round % 2 != 0) {
      measure(*bare, prompt, prefill_bare, decode_bare);
    }
  }
  print_summary("prefill, bare libllama", "t/s", prefill_bare);
  print_summary("prefill, samovar (cold)", "t/s", prefill_samovar);
  print_ratio("prefill, samovar / bare", prefill_samovar, prefill_bare);
  print_summary("decode, bare libllama", "t/s", decode_bare);
  print_summary("decode, samovar", "t/s", decode_samovar);
  print_ratio("decode, samovar / bare", decode_samovar, decode_bare);
}

// Makes `tokens` idle tokens resident in sequences 1 .. kIdle. One is computed, the others are
// copies of its K/V in cells of their own: a large model would compute 60,000 tokens for an hour.
void fill_idle(LlamaEngine& engine, Position tokens) {
  const Position each = tokens / kIdle;
  fill(engine, 1, random_tokens(1, each));
  const SnapshotPtr end = take_or_exit(engine.snapshot(1));
  for (SeqId copy = 2; copy <= kIdle; ++copy) {
    for (Position begin = 0; begin < each; begin += kCopied) {
      const Position stop = std::min(each, begin + kCopied);
      std::vector<std::uint8_t> segment;
      const auto room = [&segment](std::size_t bytes) -> MutableBytes {
        segment.resize(bytes);
        return segment;
      };
      if (!engine.export_segment(1, begin, stop, room)) std::exit(1);
      if (!engine.import_segment(copy, begin, stop, segment)) std::exit(1);
    }
    if (engine.rewind(copy, each, end.get()) != EngineStatus::ok) std::exit(1);
  }
}

void run_beside(const BenchOptions& options) {
  BenchOptions wide = options;
  wide.sequences = kIdle + 1;
  const Position cells = options.resident + kSession + options.reply + 512;
  const auto alone = take_or_exit(LlamaEngine::open(engine_options(wide, cells)));
  const auto beside = take_or_exit(LlamaEngine::open(engine_options(wide, cells)));
  fill_idle(*beside, options.resident);
  std::vector<double> rates_alone;
  std::vector<double> rates_beside;
  for (int round = -1; round < options.rounds; ++round) {
    const Tokens prompt = random_tokens(static_cast<std::uint32_t>(round + 100), kSession);
    const double first = decode_rate(round % 2 == 0 ? *alone : *beside, prompt, options.reply);
    const double second = decode_rate(round % 2 == 0 ? *beside : *alone, prompt, options.reply);
    if (round >= 0) {
      rates_alone.push_back(round % 2 == 0 ? first : second);
      rates_beside.push_back(round % 2 == 0 ? second : first);
    }
  }
  print_summary("decode alone", "t/s", rates_alone);
  print_summary(fmt::format("beside {} resident tokens", options.resident).c_str(), "t/s",
                rates_beside);
  print_ratio("beside / alone", rates_beside, rates_alone);
}

void run_drift(const BenchOptions& options) {
  BenchOptions wide = options;
  wide.sequences = std::max(options.sequences, 8);
  const int others = wide.sequences - 1;
  const int length = std::min(options.prompt, 1000);
  const auto engine = take_or_exit(
      LlamaEngine::open(engine_options(wide, wide.sequences * (length + options.reply + 64))));
  const auto prompt_of = [&](SeqId sequence) {
    return random_tokens(static_cast<std::uint32_t>(sequence + 1), length + 13 * sequence % 64);
  };

  // What each says alone, always in the same memory (sequence 0, cells from the start).
  fill(*engine, 0, prompt_of(0));
  std::vector<std::vector<float>> rows;
  Tokens reply = {most_likely(engine->logits(0))};
  for (int i = 0; i < options.reply; ++i) {
    reply.push_back(decode_one(*engine, 0, reply.back()));
    const auto row = engine->logits(0);
    rows.emplace_back(row.begin(), row.end());
  }
  engine->drop(0);

  std::vector<Token> next;
  for (SeqId sequence = 0; sequence <= others; ++sequence) {
    fill(*engine, sequence, prompt_of(sequence));
    next.push_back(most_likely(engine->logits(0)));
  }
  double most = 0.0;
  double scale = 0.0;
  int changed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    next[0] = reply[i];  // the same tokens as alone, whatever would be chosen now
    std::vector<DecodeStep> steps;
    for (SeqId sequence = 0; sequence <= others; ++sequence) {
      steps.push_back({.sequence = sequence,
                       .position = engine->length(sequence),
                       .token = next[static_cast<std::size_t>(sequence)]});
    }
    must(engine->decode(steps), "decode");
    const auto row = engine->logits(0);
    for (std::size_t token = 0; token < row.size(); ++token) {
      most = std::max<double>(most, std::abs(row[token] - rows[i][token]));
      scale = std::max<double>(scale, std::abs(rows[i][token]));
    }
    changed += most_likely(row) == most_likely(rows[i]) ? 0 : 1;
    for (SeqId sequence = 1; sequence <= others; ++sequence) {
      next[static_cast<std::size_t>(sequence)] = most_likely(engine->logits(sequence));
    }
  }
  fmt::print(
      "  decoded with {} others: largest logit difference {:.5f} on a scale of {:.2f}; the greedy "
      "token changed in {} of {} steps\n",
      others, most, scale, changed, rows.size());
}

void run_snapshots(const BenchOptions& options) {
  const auto engine = take_or_exit(
      LlamaEngine::open(engine_options(options, options.prompt + options.reply + 1024)));
  fmt::print("  a snapshot is {} bytes\n", engine->limits().snapshot_bytes);
  fill(*engine, 0, random_tokens(1, options.prompt));
  std::vector<double> taking;
  std::vector<double> rewinding;
  std::vector<double> forking;
  for (int round = -1; round < options.rounds; ++round) {
    Micros began = system_clock().now();
    const SnapshotPtr snapshot = take_or_exit(engine->snapshot(0));
    const double took = ms_since(began);
    const Position position = engine->length(0);
    fill(*engine, 0, random_tokens(2, 64));
    began = system_clock().now();
    must(engine->fork(0, 1, position, snapshot.get()), "fork");
    const double forked = ms_since(began);
    began = system_clock().now();
    must(engine->rewind(0, position, snapshot.get()), "rewind");
    const double rewound = ms_since(began);
    engine->drop(1);
    if (round >= 0) {
      taking.push_back(took);
      rewinding.push_back(rewound);
      forking.push_back(forked);
    }
  }
  print_summary("snapshot", "ms", taking);
  print_summary("rewind", "ms", rewinding);
  print_summary("fork", "ms", forking);
}

}  // namespace samovar::bench
