// Helpers for tests that run on real (tiny, random) models: finding them, opening engines, feeding
// tokens with given cuts, and taking greedy replies with every row of logits. Included by tests
// only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/llama_engine.h"
#include "engine/logits.h"

namespace samovar::testing {

// Every tiny model that the model maker wrote.
inline std::vector<std::string> tiny_models() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(SAMOVAR_MODELS, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("tiny-") && name.ends_with(".gguf")) {
      found.push_back(entry.path().string());
    }
  }
  std::ranges::sort(found);
  return found;
}

inline std::string model_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

inline EngineOptions small_options(const std::string& model) {
  EngineOptions options;
  options.model_path = model;
  options.cells = 2048;
  options.sequences = 6;
  options.parallel = 6;
  options.ubatch = 64;
  options.threads = 1;  // several would stall one another on a busy machine
  return options;
}

inline std::unique_ptr<LlamaEngine> open_or_fail(const EngineOptions& options) {
  auto engine = LlamaEngine::open(options);
  if (!engine) {
    ADD_FAILURE() << engine.error().describe();
    return nullptr;
  }
  return std::move(*engine);
}

// Ordinary text tokens, the same for the same seed.
inline Tokens some_tokens(std::uint32_t seed, int count) {
  std::mt19937 random(seed);
  Tokens tokens(static_cast<std::size_t>(count));
  for (Token& token : tokens) {
    token = static_cast<Token>(random() % 20'000U);
  }
  return tokens;
}

// Appends `tokens` in calls of at most `piece` tokens, cut on the grid of absolute positions.
inline EngineStatus feed(LlamaEngine& engine, SeqId sequence, TokenSpan tokens, int piece = 64) {
  while (!tokens.empty()) {
    const Position at = engine.length(sequence);
    const int room = piece - at % piece;
    const auto next = tokens.first(std::min(tokens.size(), static_cast<std::size_t>(room)));
    tokens = tokens.subspan(next.size());
    const EngineStatus status = engine.prefill(sequence, at, next, tokens.empty());
    if (status != EngineStatus::ok) {
      return status;
    }
  }
  return EngineStatus::ok;
}

struct Reply {
  Tokens tokens;
  std::vector<std::vector<float>> rows;  // logits each token was chosen from

  bool operator==(const Reply&) const = default;
};

// Continuation from output 0: greedy, or with the given tokens.
inline Reply reply_of(LlamaEngine& engine, SeqId sequence, int count, TokenSpan forced = {}) {
  Reply reply;
  for (int i = 0; i < count; ++i) {
    const auto row = engine.logits(0);
    reply.rows.emplace_back(row.begin(), row.end());
    const auto index = static_cast<std::size_t>(i);
    reply.tokens.push_back(index < forced.size() ? forced[index] : most_likely(row));
    const DecodeStep step{sequence, engine.length(sequence), reply.tokens.back()};
    EXPECT_EQ(engine.decode({&step, 1}), EngineStatus::ok);
  }
  return reply;
}

inline float row_drift(std::span<const float> a, std::span<const float> b) {
  float most = 0.0F;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

// Whether two sets of logits came from the same memory, up to the order of summation: other cell
// order or batch shape moves logits of these models (which reach 15) by some 0.02, a wrong state by
// 5 and more. A single row may move far too: rounding can send a token to another expert, and the
// state remembers that.
inline bool same_up_to_rounding(const Reply& a, const Reply& b) {
  constexpr float rounding = 0.3F;
  std::size_t close = 0;
  for (std::size_t i = 0; i < std::min(a.rows.size(), b.rows.size()); ++i) {
    close += row_drift(a.rows[i], b.rows[i]) < rounding ? 1U : 0U;
  }
  return a.rows.size() == b.rows.size() && 2 * close >= a.rows.size();
}

inline SnapshotPtr take(LlamaEngine& engine, SeqId sequence) {
  auto snapshot = engine.snapshot(sequence);
  EXPECT_TRUE(snapshot.has_value());
  return snapshot ? *snapshot : nullptr;
}

}  // namespace samovar::testing
