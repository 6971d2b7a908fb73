#include "fs/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace samovar::sqlite {
namespace {

static_assert(kOk == SQLITE_OK && kCorrupt == SQLITE_CORRUPT && kRow == SQLITE_ROW &&
              kDone == SQLITE_DONE);

constexpr int kBusyMs = 2000;  // somebody else reads the database

// The file is ours alone before SQLite writes to it, whatever the umask (S8); the files beside it
// take its mode.
int make_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return SQLITE_CANTOPEN;
  const bool ours = ::fchmod(file, 0600) == 0;
  ::close(file);
  return ours ? SQLITE_OK : SQLITE_PERM;
}

}  // namespace

bool is_damage(int code) {
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // of statements that never change: the tables are others
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:  // of values that we never write so large
      return true;
    default:
      return code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_CORRUPTFS;
  }
}

bool is_corrupt(int code) {
  const int kind = code & 0xFF;
  return kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || code == SQLITE_IOERR_SHORT_READ ||
         code == SQLITE_IOERR_CORRUPTFS;
}

const char* describe(int code) { return sqlite3_errstr(code); }

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

int Statement::step() { return sqlite3_step(statement_); }

int Statement::run() {
  const int code = step();
  const int reset = sqlite3_reset(statement_);
  return code == SQLITE_DONE ? reset : code;
}

void Statement::reset() { sqlite3_reset(statement_); }

void Statement::bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }

void Statement::bind_real(int at, double value) { sqlite3_bind_double(statement_, at, value); }

void Statement::bind(int at, Bytes bytes) {
  sqlite3_bind_blob64(statement_, at, bytes.empty() ? static_cast<const void*>("") : bytes.data(),
                      bytes.size(), SQLITE_STATIC);
}

void Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_, at, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void Statement::bind_null(int at) { sqlite3_bind_null(statement_, at); }

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return {bytes == nullptr ? "" : bytes, size};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Statement::copy(int column, MutableBytes into) const {
  const std::string_view bytes = text(column);
  if (bytes.size() != into.size()) return false;
  std::memcpy(into.data(), bytes.data(), bytes.size());
  return true;
}

int Connection::open(const std::string& path, int value_max) {
  if (path != ":memory:") {
    if (const int code = make_private(path); code != SQLITE_OK) return code;
  }
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr); code != SQLITE_OK) {
    return code;
  }
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, value_max);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_busy_timeout(handle_, kBusyMs);
  return SQLITE_OK;
}

void Connection::close() { sqlite3_close(std::exchange(handle_, nullptr)); }

int Connection::execute(const char* text) {
  return sqlite3_exec(handle_, text, nullptr, nullptr, nullptr);
}

Statement Connection::prepare(const char* text) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v3(handle_, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  return Statement(statement);
}

int Connection::last_code() const { return sqlite3_extended_errcode(handle_); }

std::int64_t Connection::last_row() const { return sqlite3_last_insert_rowid(handle_); }

std::int64_t Connection::changes() const { return sqlite3_changes64(handle_); }

}  // namespace samovar::sqlite
