// Plan: what will be measured, in which order. A conversation of every depth is computed cold, so
// many times as cold rounds are asked for, and the last one is gone on with: its follow-ups,
// replies, edits, restarts. Sessions are conversations of their own. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/measurement.h"

namespace samovar::bench {

// Counts of rounds are one a depth; the last one stands for all further depths.
struct PlanOptions {
  std::vector<Step> steps;
  std::vector<std::int64_t> depths;  // tokens
  int rounds = 5;
  std::vector<int> cold_rounds = {3};
  std::vector<int> edit_rounds = {3};
  std::vector<int> restart_rounds = {3};
  std::int64_t reply_tokens = 64;     // of Step::decode
  std::int64_t question_words = 4;    // of a follow-up
  std::int64_t message_tokens = 500;  // of the history's messages
  std::int64_t side_tokens = 500;
  std::int64_t sessions = 8;
  bool own_replies = true;  // the history has what the model said; else always the same short text
  std::uint64_t seed = 1;
  std::string extra;                  // JSON object added to every body
  Micros pause = 500 * kMillisecond;  // before every measured request
  // Before a request that takes long every store's folder has to be without a change for so long:
  // 1 s longer than a server waits before it writes.
  Micros settle = 3 * kSecond;
  Micros write_quiet = 4 * kSecond;  // a folder that has not changed for so long is at rest
};

struct Task {
  Step step = Step::cold;
  std::int64_t depth = 0;
  int round = 0;
  std::int64_t session = 0;  // Step::sessions
  bool recorded = true;      // false: it only prepares
  bool begins = false;       // a conversation: it is cold, whatever the step
  friend bool operator==(const Task&, const Task&) = default;
};

[[nodiscard]] std::vector<Task> make_tasks(const PlanOptions& options);

// Targets in the order of the `index`th task: every other one the other way round, so that what
// drifts hits all.
[[nodiscard]] std::vector<std::size_t> order_of(std::size_t index, std::size_t targets);

}  // namespace samovar::bench
