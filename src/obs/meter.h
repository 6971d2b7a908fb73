// Meter: what the parts of the server report at the moments that are counted. One for the process;
// Metrics (metrics.h) is the one that counts, no_meter() the one that does not care, for tests and
// benches. The enums are the values of the labels: each has its names beside it.
//
// Any thread. Nothing here blocks for longer than it takes to add a few numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace samovar {

// How an accepted turn ended. `cancelled`: its client left, or somebody asked for its end.
// `shutdown`: the server ended it. `failed`: the engine or the server did not get it done.
enum class TurnEnd { complete, cancelled, shutdown, failed };
inline constexpr std::array kTurnEnds = {"complete", "cancelled", "shutdown", "failed"};

// Why a turn was not accepted.
enum class Refusal { too_large, queue_full, unavailable, invalid };
inline constexpr std::array kRefusals = {"too_large", "queue_full", "unavailable", "invalid"};

// Where reused tokens were.
enum class ReusedFrom { live, anchor, fork, disk };
inline constexpr std::array kReusedFrom = {"live", "anchor", "fork", "disk"};

// Why a restore from disk brought nothing.
enum class RestoreFault {
  evicted,     // a part made room for others before it was read
  missing,     // a file is not there
  unreadable,  // the disk failed, or the file is of a newer version
  damaged,     // a file did not verify
  too_large,   // a part is larger than the buffers for reading
  refused,     // the engine did not take a part that had verified
  no_room,     // running turns needed the cells
  turn_ended,  // the turn ended before
};
inline constexpr std::array kRestoreFaults = {"evicted",   "missing", "unreadable", "damaged",
                                              "too_large", "refused", "no_room",    "turn_ended"};

// Why a sequence that no turn runs in left the engine's memory.
enum class EvictionCause {
  turn,          // a turn that starts needs its cells or its place
  cells,         // turns that run need its cells
  rewarm,        // a re-warm needs its place
  engine_error,  // the engine failed on it
};
inline constexpr std::array kEvictionCauses = {"turn", "cells", "rewarm", "engine_error"};

// What an accepted turn was, once it has ended. Durations in microseconds; nullopt: it did not get
// there. Tokens are those of its prompt.
struct EndedTurn {
  TurnEnd end = TurnEnd::complete;
  Micros render = 0;
  Micros queue = 0;
  std::optional<Micros> plan = {};
  std::optional<Micros> restore = {};  // it brought something into a sequence, or tried to
  std::optional<Micros> prefill = {};
  std::optional<Micros> first_token = {};
  std::int64_t offered = 0;
  std::int64_t reused = 0;  // really used: something was computed from them
  ReusedFrom from = ReusedFrom::live;
  std::int64_t computed = 0;
  std::int64_t rewarmed = 0;  // of `reused`: computed by a re-warm, used for the first time
};

class Meter {
 public:
  virtual ~Meter() = default;

  // --- turns that clients sent; a re-warm is none ---
  virtual void turn_refused(Refusal) {}
  virtual void turn_ended(const EndedTurn&) {}  // once for every turn that was accepted
  // It computed what had been computed before: `tokens` of its prompt, for the cause `miss_class`.
  virtual void missed(std::string_view /*miss_class*/, std::int64_t /*tokens*/) {}

  // --- the engine ---
  virtual void token_generated() {}    // one token of one reply was sampled
  virtual void decode_step(Micros) {}  // one engine call: one token for every running reply

  // --- restores from disk: each is tried, then accepted or rejected ---
  virtual void restore_tried() {}
  virtual void restore_accepted(std::uint64_t /*bytes*/, Micros) {}
  virtual void restore_rejected(RestoreFault, std::uint64_t /*bytes*/, Micros) {}

  // --- the store ---
  virtual void file_written(Micros) {}  // or failed to be
};

// Counts nothing.
[[nodiscard]] inline Meter& no_meter() {
  static Meter none;
  return none;
}

}  // namespace samovar
