// LiveTurn: the record of a turn while it runs, filled from two sides: the engine thread reports
// events and tokens, the HTTP thread what it makes of them. Neither ever waits for a disk: the
// Ledger's own thread copies what has changed. Nor does it wait for a copy of a long prompt or
// request: those never change, and are copied outside the lock.
//
// Made by Ledger::begin(). Any thread (own lock, held for a copy of the reply so far at most).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/turn.h"
#include "ledger/turn_record.h"

namespace samovar {

class LiveTurn {
 public:
  explicit LiveTurn(TurnRecord record);

  // Engine thread.
  void on_token(Token token);
  void on_event(const TurnEvent& event);

  // Changes the record under the lock. Must be quick. Prompt and request are not in it, and stay
  // as they are.
  void update(const std::function<void(TurnRecord&)>& change);

  // Nothing more will come: the ledger writes it and lets go of it.
  void close(std::int64_t now);

  [[nodiscard]] TurnRecord record() const;
  [[nodiscard]] Tokens reply() const;  // sampled so far

  // Of the record, without copying it.
  [[nodiscard]] std::string session() const;
  [[nodiscard]] bool ended() const;

  // Its session was purged: nothing of it is kept any more.
  void forget() { forgotten_ = true; }
  [[nodiscard]] bool forgotten() const { return forgotten_; }

  // Names the messages before the reply; never changes.
  [[nodiscard]] const Sha256& context() const { return record_.context; }

  // What cannot be written for long must not fill the memory: drops prompt and texts.
  void shrink();

  [[nodiscard]] const std::string& id() const { return record_.id; }  // never changes

 private:
  friend class Ledger;
  enum class Change { none, tokens, all };
  // What has changed since the last call, and whether it was closed.
  struct Changes {
    Change what = Change::none;
    bool closed = false;
    TurnRecord record;  // if anything changed
  };
  Changes take_changes();

  // What does not change.
  struct Given {
    Tokens prompt;
    std::string request;
  };
  static void add_given(const std::shared_ptr<const Given>& given, TurnRecord& record);

  std::atomic<bool> forgotten_ = false;
  std::int64_t order_ = 0;  // of beginning; set before anybody else sees the turn

  mutable std::mutex mutex_;
  std::shared_ptr<const Given> given_;  // guarded by mutex_; null: dropped
  TurnRecord record_;                   // guarded by mutex_, all but id and context; without given_
  Change changed_ = Change::all;        // guarded by mutex_
  bool closed_ = false;                 // guarded by mutex_
};

}  // namespace samovar
