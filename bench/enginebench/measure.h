// What the modes of the engine bench share: options, random prompts, medians, and the line that
// says what was measured on which machine.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/tokens.h"
#include "engine/llama_engine.h"

namespace samovar::bench {

struct BenchOptions {
  std::string model;
  std::string mode = "speed";
  std::string text;       // file, for mode perplexity
  int prompt = 6000;      // tokens
  int reply = 128;        // tokens
  int resident = 60'000;  // tokens of idle conversations, for mode beside
  int rounds = 5;
  int threads = 0;
  int ubatch = 512;
  int sequences = 4;
  std::string type_k = "f16";
  std::string type_v = "f16";
  int gpu_layers = -1;
};

inline EngineOptions engine_options(const BenchOptions& options, Position cells) {
  EngineOptions engine;
  engine.model_path = options.model;
  engine.cells = cells;
  engine.sequences = options.sequences;
  engine.parallel = std::min(options.sequences, 8);
  engine.ubatch = options.ubatch;
  engine.threads = options.threads;
  engine.gpu_layers = options.gpu_layers;
  engine.type_k = options.type_k;
  engine.type_v = options.type_v;
  return engine;
}

inline Tokens random_tokens(std::uint32_t seed, int count) {
  std::mt19937 random(seed);
  Tokens tokens(static_cast<std::size_t>(count));
  for (Token& token : tokens) {
    token = static_cast<Token>(random() % 20'000U);
  }
  return tokens;
}

struct Summary {
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
};

inline Summary summarize(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return {.median =
              values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0,
          .least = values.front(),
          .most = values.back()};
}

inline void print_summary(const char* what, const char* unit, const std::vector<double>& values) {
  const Summary summary = summarize(values);
  fmt::print("  {:<34} median {:>10.2f} {:<5} (min {:.2f}, max {:.2f}, n = {})\n", what,
             summary.median, unit, summary.least, summary.most, values.size());
}

// Ratios are taken round by round, so that a slow minute of the machine touches both sides.
inline void print_ratio(const char* what, const std::vector<double>& ours,
                        const std::vector<double>& theirs) {
  std::vector<double> ratios;
  ratios.reserve(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ratios.push_back(ours[i] / theirs[i]);
  }
  const Summary summary = summarize(ratios);
  fmt::print("  {:<34} ratio  {:>10.3f}       (min {:.3f}, max {:.3f})\n", what, summary.median,
             summary.least, summary.most);
}

template <class Value>
[[nodiscard]] Value take_or_exit(Result<Value> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().describe());
    std::exit(1);
  }
  return std::move(*result);
}

inline void must(EngineStatus status, const char* what) {
  if (status != EngineStatus::ok) {
    fmt::print(stderr, "{} failed\n", what);
    std::exit(1);
  }
}

// Appends tokens in calls of at most the engine's ubatch.
inline void fill(Engine& engine, SeqId sequence, TokenSpan tokens) {
  while (!tokens.empty()) {
    const auto count = std::min(tokens.size(), static_cast<std::size_t>(engine.limits().ubatch));
    must(engine.prefill(sequence, engine.length(sequence), tokens.first(count),
                        count == tokens.size()),
         "prefill");
    tokens = tokens.subspan(count);
  }
}

[[nodiscard]] inline double tokens_per_second(double tokens, Micros took) {
  return took > 0 ? tokens * 1e6 / static_cast<double>(took) : 0.0;
}

}  // namespace samovar::bench
