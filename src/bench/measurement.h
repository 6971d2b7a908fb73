// Measurement: one request that was measured, as it stands in every output: what the client saw,
// and apart from it what the server said. Values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/target.h"

namespace samovar::bench {

// What was measured, by what a client would call it. The order is the reports'.
enum class Step {
  cold,          // a conversation that nobody has seen
  decode,        // a reply at that depth
  resident,      // a follow-up
  restart_warm,  // a follow-up after a restart, files in the page cache
  restart_cold,  // the same, files not in the page cache
  side,          // a follow-up after a request that has nothing to do with it
  edit,          // a message in the middle was changed
  sessions,      // a follow-up, others in between
  write,         // a follow-up, and what it left on disk
};
[[nodiscard]] const char* to_string(Step step);
[[nodiscard]] std::optional<Step> step_of(const std::string& name);
inline constexpr int kSteps = 9;

// The unit of `first_ms` and its like is milliseconds by the client's clock.
struct Measurement {
  Step step = Step::cold;
  std::int64_t depth = 0;  // tokens that the conversation was made for; the real count is below
  std::int64_t sessions = 1;
  int round = 0;
  int order = 0;  // 0: first of its round
  std::string target;

  std::optional<double> first_ms;
  std::optional<double> total_ms;
  std::optional<double> decode_per_second;

  // The server's counts.
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> reused_tokens;
  std::optional<std::int64_t> computed_tokens;
  std::optional<std::int64_t> reply_tokens;
  std::int64_t pieces = 0;
  std::string source;
  std::map<std::string, double> server;  // its `timings`

  std::optional<std::uint64_t> bytes;  // Step::write: new bytes in the store's folder

  std::string missing;  // why nothing was measured; then everything above is empty

  [[nodiscard]] bool measured() const { return missing.empty(); }
};

[[nodiscard]] Measurement measurement_of(const Answer& answer);

}  // namespace samovar::bench
