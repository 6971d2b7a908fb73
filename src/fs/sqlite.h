// SQLite, as Samovar uses it: one connection to a file, prepared statements, and its result codes.
// The only file that includes SQLite is sqlite.cc. Who keeps what in which tables is said in
// store/catalog.cc and ledger/ledger_rows.cc.
//
// A Connection and its Statements are used by one thread at a time. Functions return SQLite's
// extended result codes; nothing throws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"

struct sqlite3;
struct sqlite3_stmt;

namespace samovar::sqlite {

inline constexpr int kOk = 0;
inline constexpr int kCorrupt = 11;
inline constexpr int kRow = 100;
inline constexpr int kDone = 101;

// Making the file again helps. Not so with a full disk, or one that somebody else is reading.
[[nodiscard]] bool is_damage(int code);

// The file itself is damaged, whatever is asked of it: less than is_damage() says, which a file
// that has answered before is not to be given up for.
[[nodiscard]] bool is_corrupt(int code);

[[nodiscard]] const char* describe(int code);

class Statement {
 public:
  Statement() = default;
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  explicit operator bool() const { return statement_ != nullptr; }
  int step();
  int run();  // one that returns no rows; ready to run again
  void reset();

  // Bound bytes must live until the statement has run.
  void bind(int at, std::int64_t value);
  void bind_real(int at, double value);
  void bind(int at, Bytes bytes);
  void bind(int at, std::string_view text);
  void bind_null(int at);

  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // or bytes; until the next step
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool copy(int column, MutableBytes into) const;  // false: not of that size

 private:
  friend class Connection;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  sqlite3_stmt* statement_ = nullptr;
};

class Connection {
 public:
  Connection() = default;
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Opens or creates `path` (":memory:" for none), readable by its owner only whatever the umask.
  // No value may be larger than `value_max` bytes.
  int open(const std::string& path, int value_max);
  void close();  // after its statements

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  int execute(const char* text);
  Statement prepare(const char* text);  // false: last_code() says why
  [[nodiscard]] int last_code() const;
  [[nodiscard]] std::int64_t last_row() const;  // id of the row inserted last
  [[nodiscard]] std::int64_t changes() const;   // rows that the last statement changed

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace samovar::sqlite
