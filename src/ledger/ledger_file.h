// LedgerFile: the ledger's tables in one SQLite file.
//
//   turns     one row a turn: figures, hashes, ids
//   replies   sampled tokens, with the time at which they are forgotten
//   syntaxes  how replies are read, each once
//   texts     the prompt's tokens of turns that run or were cut; request and reply of turns whose
//             text is kept
//
// Every change is one synced transaction. What is deleted is overwritten. One thread at a time (the
// Ledger's mutex). Errors: what SQLite says, with the path; the file stays as it was.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ledger/turn_record.h"

namespace samovar {

struct TurnQuery {
  int limit = 50;                    // newest first
  std::string before;                // id of a turn: only older ones; empty: from the newest
  std::string session;               // empty: any
  std::optional<TurnStatus> status;  // nullopt: any
  bool text_only = false;            // only turns whose text is kept
  std::string dialect = {};          // empty: any
  bool whole = false;                // with tokens and text; else without
};

struct PurgedTurns {
  std::int64_t turns = 0;
  std::vector<Sha256> contexts;  // at which their replies stood; of Ledger: each once
};

class LedgerDatabase;

class LedgerFile {
 public:
  // `path` ":memory:": nothing on disk. A file of a newer version is an error.
  static Result<std::unique_ptr<LedgerFile>> open(const std::string& path);
  ~LedgerFile();

  // A file that is found damaged, here or by any later call, is set aside as "<path>.damaged",
  // which replaces an earlier one, and a new one begun, in which the call does its work. This says
  // so, once; what the old one held is lost then.
  [[nodiscard]] std::string take_notice();

  // Inserts or replaces the turns with everything that belongs to them. `reply_expires` is the wall
  // second at which their tokens are to be forgotten.
  Status put(const std::vector<TurnRecord>& turns, std::int64_t reply_expires);

  // Only the tokens sampled so far.
  Status put_replies(const std::vector<TurnRecord>& turns, std::int64_t reply_expires);

  // Everything that is kept of it.
  Result<std::optional<TurnRecord>> find(const std::string& id);
  Result<std::vector<TurnRecord>> list(const TurnQuery& query);

  // Replies that were sampled after the messages that `context` names, newest first, with tokens
  // and syntax.
  Result<std::vector<TurnRecord>> replies_at(const Sha256& context, int limit);
  Result<std::vector<Sha256>> contexts();

  // Turns that ran when the process ended are incomplete. Returns how many there were.
  Result<std::int64_t> interrupt_running(std::int64_t now, const std::string& why);

  // Forgets turns created before `turns_before`, tokens of replies whose time has come, and those
  // of prompts of turns created before `tokens_before`.
  Status expire(std::int64_t now, std::int64_t turns_before, std::int64_t tokens_before);

  // Nothing of it is on disk.
  [[nodiscard]] bool in_memory() const;
  // What it takes, without what is free for reuse.
  Result<std::int64_t> bytes();
  // Forgets turns that ended until it takes `most` bytes: the oldest texts with their prompts'
  // tokens first, but for the newest kTextsFirst of them, then whole records, the oldest first.
  // True if there was something to forget.
  static constexpr int kTextsFirst = 64;
  Result<bool> keep_within(std::int64_t most);

  Result<bool> erase(const std::string& id);
  Result<PurgedTurns> purge_session(const std::string& session);

 private:
  explicit LedgerFile(std::unique_ptr<LedgerDatabase> database);
  std::unique_ptr<LedgerDatabase> database_;
};

}  // namespace samovar
