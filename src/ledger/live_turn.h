// LiveTurn: the record of a turn while it runs, filled from two sides: the engine thread reports
// events and tokens, the HTTP thread what it makes of them. Neither ever waits for a disk: the
// Ledger's own thread copies what has changed.
//
// Made by Ledger::begin(). Any thread (own lock, held for a few copies only).
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/turn.h"
#include "ledger/turn_record.h"

namespace samovar {

class LiveTurn {
 public:
  explicit LiveTurn(TurnRecord record) : record_(std::move(record)) {}

  // Engine thread.
  void on_token(Token token);
  void on_event(const TurnEvent& event);

  // Changes the record under the lock. Must be quick.
  void update(const std::function<void(TurnRecord&)>& change);

  // Nothing more will come: the ledger writes it and lets go of it.
  void close(std::int64_t now);

  [[nodiscard]] TurnRecord record() const;
  [[nodiscard]] Tokens reply() const;  // sampled so far

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

  std::atomic<bool> forgotten_ = false;
  std::int64_t order_ = 0;  // of beginning; set before anybody else sees the turn

  mutable std::mutex mutex_;
  TurnRecord record_;             // guarded by mutex_, all but the id
  Change changed_ = Change::all;  // guarded by mutex_
  bool closed_ = false;           // guarded by mutex_
};

}  // namespace samovar
