// What became of one request of a replay, and how the tokens it cost are told apart. Values and
// pure functions; any thread. A figure that the server does not tell stays empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/target.h"
#include "replay/histories.h"
#include "replay/trace.h"

namespace samovar::replay {

enum class TurnOutcome {
  left_out,  // it follows a turn that failed
  failed,
  whole,
  cut,  // where it was cut when it was recorded
};
[[nodiscard]] const char* to_string(TurnOutcome outcome);

// How a turn's output compares with that of the first run.
enum class Sameness {
  not_compared,  // the first run, or it is sampled by chance
  equal,
  differs,
  after_difference,  // it follows one that differs, so its request was another
};
[[nodiscard]] const char* to_string(Sameness sameness);

struct TurnResult {
  TurnOutcome outcome = TurnOutcome::left_out;
  std::optional<Error> error;
  Sameness sameness = Sameness::not_compared;
  std::string difference;  // the first one, for people

  ChatMessage reply{.role = Role::assistant};
  std::string finish;

  // Milliseconds. first and total are the client's, the others the server's.
  std::optional<double> queue, render, restore, prefill, decode;
  std::optional<double> first, total;

  // Tokens, the server's.
  std::optional<std::int64_t> prompt, reused, computed, replied;
  std::optional<std::int64_t> fresh;   // of the prompt, those that nobody can have computed
  std::optional<std::int64_t> beyond;  // computed, although they were not fresh
  bool beyond_by_server = false;       // its explanation says so; else counts of two turns do
  std::string miss;                    // class; empty: none that was told
};

[[nodiscard]] TurnResult read_answer(const bench::Answer& answer);

// What is known of the turn that a request follows.
struct Followed {
  const TurnResult* before = nullptr;  // null: a conversation begins
  bool extends = false;   // all its messages are kept, tools and template arguments the same
  bool returned = false;  // with its reply, as it was sampled
  // A template may leave out reasoning that stands in this history, or the client did: how many
  // tokens are new does not follow from how many there are.
  bool reasoning_may_go = false;
};

// Fills in `fresh` and `beyond`. By counts where they tell, else by what the server explains.
void count_fresh(const Followed& followed, const bench::Answer& answer, TurnResult& result);

// Compares with the first run's; both have ended.
void compare(const TurnResult& first, TurnResult& result);

}  // namespace samovar::replay
