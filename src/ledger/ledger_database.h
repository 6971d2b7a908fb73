// LedgerDatabase: the ledger's connection to SQLite: opening, single rows, transactions, and what
// becomes of a file that turns out to be damaged, at the start or later: it is set aside as
// "<path>.damaged" (only the last one is kept) and a new one begun. Private to src/ledger.
//
// One thread at a time. Functions return SQLite's codes; nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "fs/sqlite.h"
#include "ledger/turn_record.h"

namespace samovar {

class LedgerDatabase {
 public:
  explicit LedgerDatabase(std::string at) : path_(std::move(at)) {}
  ~LedgerDatabase() { close(); }
  LedgerDatabase(const LedgerDatabase&) = delete;
  LedgerDatabase& operator=(const LedgerDatabase&) = delete;

  int open();                                          // what is damaged is set aside
  [[nodiscard]] bool newer() const { return newer_; }  // of a version that is not known here

  // Does `work`, which returns a code. If that shows the file to be damaged, it begins a new one
  // and does it again there.
  template <class Work>
  int run(const Work& work) {
    int code = connection.is_open() ? sqlite::kOk : open();  // it could not be begun anew before
    if (code == sqlite::kOk) code = work();
    if (!sqlite::is_corrupt(code) || newer_) return code;
    code = begin_anew(code);
    return code == sqlite::kOk ? work() : code;
  }
  // The same, as one transaction.
  template <class Work>
  int change(const Work& work) {
    return run([&] { return transact(work); });
  }

  [[nodiscard]] bool in_memory() const { return path_ == ":memory:"; }

  // What happened to a damaged file, once; empty if nothing did.
  [[nodiscard]] std::string take_notice() { return std::exchange(notice_, {}); }

  [[nodiscard]] std::unexpected<Error> error(int code, const char* what) const;

  // --- within `work` ---
  int row_of(const std::string& id, std::int64_t& row);  // kOk with row 0: there is no such turn
  int put(const TurnRecord& turn, std::int64_t reply_expires);
  int put_reply(std::int64_t row, const TurnRecord& turn, std::int64_t expires);
  int erase(std::int64_t row);
  int erase_text(std::int64_t row);
  int number(const char* query, std::int64_t& value);  // of its first row; 0: there is none
  int bytes(std::int64_t& used);                       // pages that hold something

  sqlite::Connection connection;

 private:
  template <class Work>
  int transact(const Work& work) {
    int code = connection.execute("BEGIN IMMEDIATE");
    if (code != sqlite::kOk) return code;
    code = work();
    if (code == sqlite::kOk) code = connection.execute("COMMIT");
    if (code != sqlite::kOk) connection.execute("ROLLBACK");
    return code;
  }
  int open_as_it_is();
  int begin_anew(int why);
  bool set_aside();
  int check_tables();
  int prepare();
  void close();

  const std::string path_;
  bool newer_ = false;
  std::string notice_;
  sqlite::Statement find_row_, put_turn_, add_syntax_, find_syntax_, put_reply_, put_text_;
};

}  // namespace samovar
