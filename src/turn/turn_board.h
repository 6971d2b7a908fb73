// TurnBoard: the turns of clients that run right now, phase by phase, and the last ones that ended:
// for whoever watches. TurnRecords keeps it; re-warms are not on it.
//
// Any thread. Each turn has a lock of its own, held for a copy of a few fields at most: the engine
// thread, which reports to it, may wait for such a copy, and for nothing else of whoever watches.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "core/turn.h"
#include "explain/explanation.h"
#include "store/identity.h"

namespace samovar {

enum class LivePhase { queue, restore, prefill, decode };
[[nodiscard]] const char* to_string(LivePhase phase);

// One turn as it stands at some moment. Times are wall-clock durations; together they are its age.
struct LiveView {
  struct Miss {
    Cause cause = Cause::none;
    std::int64_t tokens_lost = 0;
    std::optional<double> seconds_lost;
  };

  std::string id;
  std::string session;
  std::string dialect;
  bool background = false;
  std::int64_t created = 0;  // wall seconds
  LivePhase phase = LivePhase::queue;
  Position prompt_tokens = 0;
  Position done_tokens = 0;      // of the prompt, in memory
  Position reused_tokens = 0;    // once it is planned
  Position computed_tokens = 0;  // of the prompt, so far
  Position reply_tokens = 0;
  std::optional<ReuseSource> source;  // once it is planned
  Micros render = 0;
  Micros queue = 0;
  Micros restore = 0;
  Micros prefill = 0;
  Micros decode = 0;
  std::optional<Miss> miss;   // once it is known
  std::uint64_t changes = 0;  // counts up with every change but that of times

  [[nodiscard]] Micros age() const { return render + queue + restore + prefill + decode; }
};

class TurnOnBoard {
 public:
  // `view` as the turn begins to wait, at `now`, with the time that rendering took.
  TurnOnBoard(LiveView view, Micros now) : view_(std::move(view)), since_(now) {}

  // The last event stops the clock: what a slow client still reads is no phase.
  void on_event(const TurnEvent& event, Micros now);
  void on_token(Micros now);
  void set_session(const std::string& session);
  void set_miss(const Explanation& miss);

  [[nodiscard]] LiveView view(Micros now) const;

 private:
  void enter(LivePhase phase, Micros now);
  static Micros& time_of(LivePhase phase, LiveView& view);

  mutable std::mutex mutex_;
  LiveView view_;      // guarded by mutex_
  Micros since_;       // guarded by mutex_: when the present phase began
  bool done_ = false;  // guarded by mutex_: the engine has, and all times stand
};

class TurnBoard {
 public:
  static constexpr std::size_t kEndedMax = 64;
  static constexpr std::size_t kSessionsMax = 4096;

  std::shared_ptr<TurnOnBoard> add(LiveView view, Micros now);

  // The turn's record is complete. More calls change nothing.
  void ended(const std::shared_ptr<TurnOnBoard>& turn);

  // Oldest first, at most `most`.
  [[nodiscard]] std::vector<LiveView> live(Micros now, std::size_t most) const;

  // Turns that ended are numbered from 1 on; the last kEndedMax are known.
  struct Ended {
    std::uint64_t number = 0;
    std::string id;
  };
  [[nodiscard]] std::vector<Ended> ended_after(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t ended_so_far() const;

  // Checkpoints carry a session's id, not its name: remembers which is which, of the last
  // kSessionsMax that were named.
  void name_session(const SessionId& id, const std::string& session);
  [[nodiscard]] std::optional<std::string> session_named(const SessionId& id) const;

 private:
  struct IdHash {
    std::size_t operator()(const SessionId& id) const;
  };

  mutable std::mutex mutex_;
  std::list<std::weak_ptr<TurnOnBoard>> live_;                   // guarded by mutex_; oldest first
  std::deque<Ended> ended_;                                      // guarded by mutex_; oldest first
  std::uint64_t ended_so_far_ = 0;                               // guarded by mutex_
  std::unordered_map<SessionId, std::string, IdHash> sessions_;  // guarded by mutex_
  std::deque<SessionId> named_;                                  // guarded by mutex_; oldest first
};

}  // namespace samovar
