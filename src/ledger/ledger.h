// Ledger: every turn, recorded as it happens. A turn is on disk before its first second is over,
// and at most the last half second of its tokens is lost by a crash; what ran when a process died
// is found as `incomplete` by the next one.
//
// Threads: begin() and everything that asks may be called from any thread; the LiveTurn that
// begin() returns is filled by the engine thread and an HTTP thread. The file is written by the
// ledger's own thread, and read under the same mutex by whoever asks. A disk that fails costs the
// records, never a turn: it is said once in the log and tried again. A file that is found damaged
// is set aside (ledger_file.h); what still runs is in the new one half a second later.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger_file.h"
#include "ledger/live_turn.h"
#include "ledger/turn_record.h"

namespace samovar {

struct LedgerOptions {
  std::string path;        // empty: in memory only
  bool keep_text = false;  // of every turn, not only where the client asks
  std::int64_t record_seconds = std::int64_t{30} * 86'400;  // how long figures and text are kept
  std::int64_t token_seconds = std::int64_t{7} * 86'400;    // how long sampled tokens are kept
  Micros flush = 500 * kMillisecond;                        // between writes of turns that run
  std::int64_t memory_bytes = 256 << 20;  // most that is kept where there is no file
};

class Ledger {
 public:
  // Falls back to memory, saying so, where the file cannot be used.
  static std::unique_ptr<Ledger> open(LedgerOptions options, const Clock& clock);
  ~Ledger();  // writes what is left

  [[nodiscard]] const LedgerOptions& options() const { return options_; }

  // Records a turn from here on. Its id must be new.
  std::shared_ptr<LiveTurn> begin(TurnRecord record);

  // Running turns as they stand at this moment, others as they ended.
  Result<std::optional<TurnRecord>> find(const std::string& id);
  Result<std::vector<TurnRecord>> list(const TurnQuery& query);

  // Replies sampled after the messages that `context` names, newest first. Costs a look-up in
  // memory where there are none. live_at(): of turns that run, or ended a moment ago.
  std::vector<TurnRecord> replies_at(const Sha256& context, int limit);
  std::vector<TurnRecord> live_at(const Sha256& context) const;

  // Forgets a turn, or all turns of a session, running ones too.
  Result<bool> erase(const std::string& id);
  Result<PurgedTurns> purge_session(const std::string& session);

  // Changes whenever something may have been forgotten: what was read before may be gone.
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

  // Writes everything that is known now. False: the disk refused.
  bool flush();

  // Why the file is not used, or what was wrong with it when it was opened; else empty.
  [[nodiscard]] const std::string& notice() const { return notice_; }

 private:
  Ledger(LedgerOptions options, const Clock& clock, std::unique_ptr<LedgerFile> file,
         std::string notice);

  struct ContextHash {
    std::size_t operator()(const Sha256& hash) const;
  };

  // What is written at once.
  struct Batch {
    std::vector<TurnRecord> whole;
    std::vector<TurnRecord> tokens;
    std::vector<std::shared_ptr<LiveTurn>> touched;
    std::vector<std::string> closed;
  };

  void run();
  bool write_changes(bool now);
  [[nodiscard]] Batch take_batch() const;
  Status put(const Batch& batch);
  bool begun_anew();
  void keep_within_memory();
  void say_health(const Status& status);
  void write_failed(const std::vector<std::shared_ptr<LiveTurn>>& touched);
  void expire_if_due();
  [[nodiscard]] std::vector<std::shared_ptr<LiveTurn>> live_turns() const;

  const LedgerOptions options_;
  const Clock& clock_;
  const std::string notice_;
  std::atomic<std::uint64_t> forgotten_ = 0;

  mutable std::mutex live_mutex_;  // guards what follows
  std::condition_variable wake_;
  std::unordered_map<std::string, std::shared_ptr<LiveTurn>> live_;
  std::int64_t begun_ = 0;
  std::unordered_set<Sha256, ContextHash> contexts_;  // at which replies may be known
  bool stopping_ = false;

  std::mutex file_mutex_;  // guards what follows; taken before live_mutex_ where both are
  std::unique_ptr<LedgerFile> file_;
  bool failing_ = false;
  Micros retry_at_ = 0;  // after a failure
  std::int64_t expired_at_ = 0;

  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace samovar
