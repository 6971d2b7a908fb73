#include "store/catalog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <utility>

namespace samovar {
namespace {

constexpr int kCatalogVersion = 1;  // of the tables; another one means: make it again
constexpr int kValueMax = 1 << 16;  // bytes of a column
constexpr std::uint64_t kRowBytesMin = 64;
constexpr int kBusyMs = 2000;  // somebody else reads the database

constexpr std::array kTables = {
    "CREATE TABLE blobs(kind INTEGER NOT NULL,identity BLOB NOT NULL,model BLOB NOT NULL,"
    "parent BLOB NOT NULL,first INTEGER NOT NULL,last INTEGER NOT NULL,payload INTEGER NOT NULL,"
    "file INTEGER NOT NULL,anchor INTEGER NOT NULL,canonical INTEGER NOT NULL,"
    "session BLOB NOT NULL,cost INTEGER NOT NULL,created INTEGER NOT NULL,"
    "last_used INTEGER NOT NULL,uses INTEGER NOT NULL,label TEXT NOT NULL,"
    "PRIMARY KEY(identity,kind))WITHOUT ROWID",
    "CREATE TABLE numbers(name TEXT NOT NULL PRIMARY KEY,value INTEGER NOT NULL)WITHOUT ROWID",
};

constexpr const char* kLoad =
    "SELECT kind,identity,model,parent,first,last,payload,file,anchor,canonical,session,cost,"
    "created,last_used,uses,label FROM blobs";
constexpr const char* kPut =
    "INSERT OR REPLACE INTO blobs(kind,identity,model,parent,first,last,payload,file,anchor,"
    "canonical,session,cost,created,last_used,uses,label) "
    "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)";
constexpr const char* kErase = "DELETE FROM blobs WHERE identity=?2 AND kind=?1";
constexpr const char* kUse =
    "UPDATE blobs SET last_used=max(last_used,?3),uses=min(uses+1,4294967295) "
    "WHERE identity=?2 AND kind=?1";
constexpr const char* kNumber = "SELECT value FROM numbers WHERE name=?1";
constexpr const char* kSetNumber = "INSERT OR REPLACE INTO numbers(name,value) VALUES(?1,?2)";

constexpr const char* kSettings =
    "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;"
    "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA journal_size_limit=4194304;";

// Making it again helps. Not so with a full disk, or a database that somebody else is reading.
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

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, const char* text) {
    sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    return *this;
  }

  explicit operator bool() const { return statement_ != nullptr; }
  int step() { return sqlite3_step(statement_); }
  int run() {  // one that returns no rows
    const int code = step();
    const int reset = sqlite3_reset(statement_);
    return code == SQLITE_DONE ? reset : code;
  }
  void reset() { sqlite3_reset(statement_); }

  // Bound bytes must live until the statement has run.
  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, Bytes bytes) {
    sqlite3_bind_blob(statement_, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
  }
  void bind(int at, const std::string& text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }
  std::string_view text(int column) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return {bytes == nullptr ? "" : bytes, size};
  }
  // False: not of that size.
  bool copy(int column, MutableBytes into) {
    const std::string_view bytes = text(column);
    if (bytes.size() != into.size()) return false;
    std::memcpy(into.data(), bytes.data(), bytes.size());
    return true;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

void bind_key(Statement& statement, BlobKind kind, const Identity& identity) {
  statement.bind(1, static_cast<std::int64_t>(kind));
  statement.bind(2, identity.bytes);
}

int put(Statement& statement, const BlobRecord& record) {
  bind_key(statement, record.kind, record.identity);
  statement.bind(3, record.model.bytes);
  statement.bind(4, record.parent.bytes);
  statement.bind(5, record.begin);
  statement.bind(6, record.end);
  statement.bind(7, static_cast<std::int64_t>(record.payload_bytes));
  statement.bind(8, static_cast<std::int64_t>(record.file_bytes));
  statement.bind(9, static_cast<std::int64_t>(record.anchor));
  statement.bind(10, std::int64_t{record.canonical});
  statement.bind(11, record.session.bytes);
  statement.bind(12, record.cost);
  statement.bind(13, record.created);
  statement.bind(14, record.last_used);
  statement.bind(15, std::int64_t{record.uses});
  statement.bind(16, record.label);
  return statement.run();
}

// False: it does not fit, so the row makes no sense.
template <class T>
bool number(Statement& row, int column, T& into, std::int64_t least, std::int64_t most) {
  const std::int64_t value = row.number(column);
  into = static_cast<T>(value);
  return value >= least && value <= most;
}

std::optional<BlobRecord> record_of_row(Statement& row) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t position = std::numeric_limits<Position>::max();
  constexpr auto payload = static_cast<std::int64_t>(kBlobPayloadMax);
  BlobRecord record;
  record.label = row.text(15);
  const bool sane =
      number(row, 0, record.kind, 1, 2) && row.copy(1, record.identity.bytes) &&
      row.copy(2, record.model.bytes) && row.copy(3, record.parent.bytes) &&
      number(row, 4, record.begin, 0, position) && number(row, 5, record.end, 1, position) &&
      number(row, 6, record.payload_bytes, 0, payload) &&
      number(row, 7, record.file_bytes, row.number(6), 2 * payload) &&
      number(row, 8, record.anchor, 1, 5) && number(row, 9, record.canonical, 0, 1) &&
      row.copy(10, record.session.bytes) && number(row, 11, record.cost, 0, any) &&
      number(row, 12, record.created, 0, any) && number(row, 13, record.last_used, 0, any) &&
      number(row, 14, record.uses, 0, std::numeric_limits<std::uint32_t>::max()) &&
      record.label.size() <= kBlobLabelMax && possible(record);
  return sane ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace

struct Catalog::Database {
  explicit Database(std::string at) : path(std::move(at)) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { close(); }

  // All return SQLite's codes; SQLITE_CORRUPT also for what only we know to be wrong.
  int open();
  int use();
  int check_tables();
  int make_tables();
  int open_or_make();
  int make_again();
  void close();

  int execute(const char* text) { return sqlite3_exec(handle, text, nullptr, nullptr, nullptr); }
  [[nodiscard]] std::array<std::string, 4> files() const {
    return {path + "-wal", path + "-shm", path + "-journal", path};
  }
  // Does `work`; if the database turns out to be damaged, makes it again and does it once more.
  template <class Work>
  int mending(const Work& work) {
    const bool usable = handle != nullptr && set_number;
    if (const int code = usable ? SQLITE_OK : open_or_make(); code != SQLITE_OK) return code;
    const int code = work();
    if (!is_damage(code)) return code;
    const int made = make_again();
    return made == SQLITE_OK ? work() : made;
  }
  [[nodiscard]] std::unexpected<Error> error(int code, const char* what) const {
    return fail(ErrorKind::internal, fmt::format("cannot {} the store's catalog {}: {}", what, path,
                                                 sqlite3_errstr(code)));
  }
  int load(std::vector<BlobRecord>& records);
  int apply(const Changes& changes);
  int change(const Changes& changes);

  const std::string path;
  sqlite3* handle = nullptr;
  bool recreated = false;
  Statement put, erase, use_once, number, set_number;
};

// The file is ours alone before SQLite writes to it, whatever the umask (S8); the files beside it
// take its mode.
int Catalog::Database::open() {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return SQLITE_CANTOPEN;
  const bool ours = ::fchmod(file, 0600) == 0;
  ::close(file);
  if (!ours) return SQLITE_PERM;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr); code != SQLITE_OK) {
    return code;
  }
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kValueMax);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_busy_timeout(handle, kBusyMs);
  if (const int code = check_tables(); code != SQLITE_OK) return code;
  return use();
}

int Catalog::Database::use() {
  put = Statement(handle, kPut);
  erase = Statement(handle, kErase);
  use_once = Statement(handle, kUse);
  number = Statement(handle, kNumber);
  set_number = Statement(handle, kSetNumber);
  const bool all = put && erase && use_once && number && set_number;
  return all ? SQLITE_OK : SQLITE_CORRUPT;
}

// The tables must be ours to the letter: nothing else in a file that anybody may have written is
// ever run.
int Catalog::Database::check_tables() {
  if (const int code = execute(kSettings); code != SQLITE_OK) return code;
  Statement version(handle, "PRAGMA user_version");
  if (!version || version.step() != SQLITE_ROW) return sqlite3_extended_errcode(handle);
  const std::int64_t found = version.number(0);
  version = Statement();
  Statement tables(handle, "SELECT sql FROM sqlite_master ORDER BY name");
  if (!tables) return sqlite3_extended_errcode(handle);
  std::size_t count = 0;
  int code = SQLITE_ROW;
  while ((code = tables.step()) == SQLITE_ROW) {
    if (count == kTables.size() || tables.text(0) != kTables[count]) return SQLITE_CORRUPT;
    ++count;
  }
  if (code != SQLITE_DONE) return code;
  tables = Statement();
  if (count == 0 && found == 0) return make_tables();
  return count == kTables.size() && found == kCatalogVersion ? SQLITE_OK : SQLITE_CORRUPT;
}

int Catalog::Database::make_tables() {
  std::string text = "BEGIN IMMEDIATE;";
  for (const char* table : kTables) text += fmt::format("{};", table);
  text += fmt::format("PRAGMA user_version={};COMMIT", kCatalogVersion);
  return execute(text.c_str());
}

int Catalog::Database::open_or_make() {
  close();
  const int code = open();
  return is_damage(code) ? make_again() : code;
}

// What is beside the database goes first, so that nothing old is ever read into the new one.
int Catalog::Database::make_again() {
  close();
  recreated = true;
  for (const std::string& file : files()) {
    std::error_code ignored;  // opening it tells
    std::filesystem::remove(file, ignored);
  }
  return open();
}

void Catalog::Database::close() {
  for (Statement* statement : {&put, &erase, &use_once, &number, &set_number}) {
    *statement = Statement();
  }
  sqlite3_close(std::exchange(handle, nullptr));
}

int Catalog::Database::load(std::vector<BlobRecord>& records) {
  records.clear();
  Statement row(handle, kLoad);
  if (!row) return sqlite3_extended_errcode(handle);
  std::uint64_t bytes = 0;
  for (const std::string& file : files()) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(file, missing);
    if (!missing) bytes += size;
  }
  int code = SQLITE_ROW;
  std::uint64_t rows = 0;
  while ((code = row.step()) == SQLITE_ROW) {
    if (++rows > bytes / kRowBytesMin) return SQLITE_CORRUPT;  // pages that go in circles
    if (auto record = record_of_row(row)) records.push_back(std::move(*record));
  }
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

int Catalog::Database::change(const Changes& changes) {
  for (const BlobRecord& record : changes.put) {
    if (const int code = samovar::put(put, record); code != SQLITE_OK) return code;
  }
  for (const BlobKey& key : changes.erased) {
    bind_key(erase, key.kind, key.identity);
    if (const int code = erase.run(); code != SQLITE_OK) return code;
  }
  for (const auto& [key, time] : changes.used) {
    bind_key(use_once, key.kind, key.identity);
    use_once.bind(3, time);
    if (const int code = use_once.run(); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int Catalog::Database::apply(const Changes& changes) {
  int code = execute("BEGIN IMMEDIATE");
  if (code != SQLITE_OK) return code;
  code = change(changes);
  if (code == SQLITE_OK) code = execute("COMMIT");
  if (code != SQLITE_OK) execute("ROLLBACK");
  return code;
}

Catalog::Catalog(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Catalog::~Catalog() = default;

Result<std::unique_ptr<Catalog>> Catalog::open(const std::string& path) {
  auto database = std::make_unique<Database>(path);
  const int code = database->open_or_make();
  if (code != SQLITE_OK) return database->error(code, "open");
  return std::unique_ptr<Catalog>(new Catalog(std::move(database)));
}

bool Catalog::recreated() const { return database_->recreated; }

Result<std::vector<BlobRecord>> Catalog::load() {
  std::vector<BlobRecord> records;
  const int code = database_->mending([&] { return database_->load(records); });
  if (code != SQLITE_OK) return database_->error(code, "read");
  return records;
}

Status Catalog::apply(const Changes& changes) {
  if (changes.empty()) return {};
  const int code = database_->mending([&] { return database_->apply(changes); });
  if (code != SQLITE_OK) return database_->error(code, "write");
  return {};
}

std::int64_t Catalog::number(const std::string& name) {
  Statement& row = database_->number;
  if (!row) return 0;
  row.bind(1, name);
  const std::int64_t value = row.step() == SQLITE_ROW ? row.number(0) : 0;
  row.reset();
  return value;
}

Status Catalog::set_number(const std::string& name, std::int64_t value) {
  const int code = database_->mending([&] {
    database_->set_number.bind(1, name);
    database_->set_number.bind(2, value);
    return database_->set_number.run();
  });
  if (code != SQLITE_OK) return database_->error(code, "write");
  return {};
}

std::uint64_t Catalog::bytes() const {
  std::uint64_t bytes = 0;
  for (const std::string& file : database_->files()) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(file, missing);
    if (!missing) bytes += on_disk(size);
  }
  return bytes;
}

}  // namespace samovar
