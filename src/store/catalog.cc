#include "store/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "fs/sqlite.h"

namespace samovar {
namespace {

using sqlite::is_damage;
using sqlite::Statement;

constexpr int kCatalogVersion = 2;  // of the tables; 1 had no `evicted`; others are made again
constexpr int kValueMax = 1 << 16;  // bytes of a column
constexpr std::uint64_t kRowBytesMin = 64;

constexpr std::string_view kBlobsTable =
    "CREATE TABLE blobs(kind INTEGER NOT NULL,identity BLOB NOT NULL,model BLOB NOT NULL,"
    "parent BLOB NOT NULL,first INTEGER NOT NULL,last INTEGER NOT NULL,payload INTEGER NOT NULL,"
    "file INTEGER NOT NULL,anchor INTEGER NOT NULL,canonical INTEGER NOT NULL,"
    "session BLOB NOT NULL,cost INTEGER NOT NULL,created INTEGER NOT NULL,"
    "last_used INTEGER NOT NULL,uses INTEGER NOT NULL,label TEXT NOT NULL,"
    "PRIMARY KEY(identity,kind))WITHOUT ROWID";
constexpr std::string_view kEvictedTable =
    "CREATE TABLE evicted(seq INTEGER PRIMARY KEY,kind INTEGER NOT NULL,identity BLOB NOT NULL,"
    "parent BLOB NOT NULL,length INTEGER NOT NULL)";
constexpr std::string_view kNumbersTable =
    "CREATE TABLE numbers(name TEXT NOT NULL PRIMARY KEY,value INTEGER NOT NULL)WITHOUT ROWID";
constexpr std::array kTables = {kBlobsTable, kEvictedTable, kNumbersTable};  // by name

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
constexpr const char* kAddEvicted =
    "INSERT INTO evicted(kind,identity,parent,length) VALUES(?1,?2,?3,?4)";
constexpr const char* kTrimEvicted =
    "DELETE FROM evicted WHERE seq<=(SELECT max(seq) FROM evicted)-?1";
constexpr const char* kEvicted =
    "SELECT kind,identity,parent,length FROM evicted ORDER BY seq LIMIT ?1";
constexpr const char* kNumber = "SELECT value FROM numbers WHERE name=?1";
constexpr const char* kSetNumber = "INSERT OR REPLACE INTO numbers(name,value) VALUES(?1,?2)";

constexpr const char* kSettings =
    "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;"
    "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA journal_size_limit=4194304;";

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
      number(row, 8, record.anchor, 1, static_cast<std::int64_t>(kLastAnchorKind)) &&
      number(row, 9, record.canonical, 0, 1) && row.copy(10, record.session.bytes) &&
      number(row, 11, record.cost, 0, any) && number(row, 12, record.created, 0, any) &&
      number(row, 13, record.last_used, 0, any) &&
      number(row, 14, record.uses, 0, std::numeric_limits<std::uint32_t>::max()) &&
      record.label.size() <= kBlobLabelMax && possible(record);
  return sane ? std::optional(std::move(record)) : std::nullopt;
}

std::optional<EvictedBlob> evicted_of_row(Statement& row) {
  EvictedBlob blob;
  const bool sane = number(row, 0, blob.key.kind, 1, 2) && row.copy(1, blob.key.identity.bytes) &&
                    row.copy(2, blob.parent.bytes) &&
                    number(row, 3, blob.length, 1, std::numeric_limits<Position>::max());
  return sane ? std::optional(blob) : std::nullopt;
}

}  // namespace

struct Catalog::Database {
  explicit Database(std::string at) : path(std::move(at)) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { close(); }

  // All return SQLite's codes; sqlite::kCorrupt also for what only we know to be wrong.
  int open();
  int use();
  int check_tables();
  int make_tables(const std::vector<std::string_view>& which);
  int open_or_make();
  int make_again();
  void close();

  int execute(const char* text) { return connection.execute(text); }
  [[nodiscard]] std::array<std::string, 4> files() const {
    return {path + "-wal", path + "-shm", path + "-journal", path};
  }
  // Does `work`; if the database turns out to be damaged, makes it again and does it once more.
  template <class Work>
  int mending(const Work& work) {
    const bool usable = connection.is_open() && set_number;
    if (const int code = usable ? sqlite::kOk : open_or_make(); code != sqlite::kOk) return code;
    const int code = work();
    if (!is_damage(code)) return code;
    const int made = make_again();
    return made == sqlite::kOk ? work() : made;
  }
  [[nodiscard]] std::unexpected<Error> error(int code, const char* what) const {
    return fail(ErrorKind::internal, fmt::format("cannot {} the store's catalog {}: {}", what, path,
                                                 sqlite::describe(code)));
  }
  int load(std::vector<BlobRecord>& records);
  int apply(const Changes& changes);
  int change(const Changes& changes);
  int change_evicted(const std::vector<EvictedBlob>& evicted);

  const std::string path;
  sqlite::Connection connection;
  bool recreated = false;
  Statement put, erase, use_once, add_evicted, trim_evicted, number, set_number;
};

int Catalog::Database::open() {
  if (const int code = connection.open(path, kValueMax); code != sqlite::kOk) return code;
  if (const int code = check_tables(); code != sqlite::kOk) return code;
  return use();
}

int Catalog::Database::use() {
  put = connection.prepare(kPut);
  erase = connection.prepare(kErase);
  use_once = connection.prepare(kUse);
  add_evicted = connection.prepare(kAddEvicted);
  trim_evicted = connection.prepare(kTrimEvicted);
  number = connection.prepare(kNumber);
  set_number = connection.prepare(kSetNumber);
  const bool all = put && erase && use_once && add_evicted && trim_evicted && number && set_number;
  return all ? sqlite::kOk : sqlite::kCorrupt;
}

// The tables must be ours to the letter: nothing else in a file that anybody may have written is
// ever run.
int Catalog::Database::check_tables() {
  if (const int code = execute(kSettings); code != sqlite::kOk) return code;
  Statement version = connection.prepare("PRAGMA user_version");
  if (!version || version.step() != sqlite::kRow) return connection.last_code();
  const std::int64_t found = version.number(0);
  version = Statement();
  Statement tables = connection.prepare("SELECT sql FROM sqlite_master ORDER BY name");
  if (!tables) return connection.last_code();
  std::vector<std::string> there;
  int code = sqlite::kRow;
  while ((code = tables.step()) == sqlite::kRow && there.size() <= kTables.size()) {
    there.emplace_back(tables.text(0));
  }
  if (code != sqlite::kDone && code != sqlite::kRow) return code;
  tables = Statement();
  if (there.empty() && found == 0) return make_tables({kBlobsTable, kEvictedTable, kNumbersTable});
  if (found == 1 && std::ranges::equal(there, std::array{kBlobsTable, kNumbersTable})) {
    return make_tables({kEvictedTable});
  }
  return found == kCatalogVersion && std::ranges::equal(there, kTables) ? sqlite::kOk
                                                                        : sqlite::kCorrupt;
}

int Catalog::Database::make_tables(const std::vector<std::string_view>& which) {
  std::string text = "BEGIN IMMEDIATE;";
  for (const std::string_view table : which) text += fmt::format("{};", table);
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
  for (Statement* statement :
       {&put, &erase, &use_once, &add_evicted, &trim_evicted, &number, &set_number}) {
    *statement = Statement();
  }
  connection.close();
}

int Catalog::Database::load(std::vector<BlobRecord>& records) {
  records.clear();
  Statement row = connection.prepare(kLoad);
  if (!row) return connection.last_code();
  std::uint64_t bytes = 0;
  for (const std::string& file : files()) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(file, missing);
    if (!missing) bytes += size;
  }
  int code = sqlite::kRow;
  std::uint64_t rows = 0;
  while ((code = row.step()) == sqlite::kRow) {
    if (++rows > bytes / kRowBytesMin) return sqlite::kCorrupt;  // pages that go in circles
    if (auto record = record_of_row(row)) records.push_back(std::move(*record));
  }
  return code == sqlite::kDone ? sqlite::kOk : code;
}

int Catalog::Database::change(const Changes& changes) {
  for (const BlobRecord& record : changes.put) {
    if (const int code = samovar::put(put, record); code != sqlite::kOk) return code;
  }
  for (const BlobKey& key : changes.erased) {
    bind_key(erase, key.kind, key.identity);
    if (const int code = erase.run(); code != sqlite::kOk) return code;
  }
  for (const auto& [key, time] : changes.used) {
    bind_key(use_once, key.kind, key.identity);
    use_once.bind(3, time);
    if (const int code = use_once.run(); code != sqlite::kOk) return code;
  }
  return change_evicted(changes.evicted);
}

int Catalog::Database::change_evicted(const std::vector<EvictedBlob>& evicted) {
  if (evicted.empty()) return sqlite::kOk;
  for (const EvictedBlob& blob : evicted) {
    bind_key(add_evicted, blob.key.kind, blob.key.identity);
    add_evicted.bind(3, blob.parent.bytes);
    add_evicted.bind(4, std::int64_t{blob.length});
    if (const int code = add_evicted.run(); code != sqlite::kOk) return code;
  }
  trim_evicted.bind(1, static_cast<std::int64_t>(EvictedChains::kMost));
  return trim_evicted.run();
}

int Catalog::Database::apply(const Changes& changes) {
  int code = execute("BEGIN IMMEDIATE");
  if (code != sqlite::kOk) return code;
  code = change(changes);
  if (code == sqlite::kOk) code = execute("COMMIT");
  if (code != sqlite::kOk) execute("ROLLBACK");
  return code;
}

Catalog::Catalog(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Catalog::~Catalog() = default;

Result<std::unique_ptr<Catalog>> Catalog::open(const std::string& path) {
  auto database = std::make_unique<Database>(path);
  const int code = database->open_or_make();
  if (code != sqlite::kOk) return database->error(code, "open");
  return std::unique_ptr<Catalog>(new Catalog(std::move(database)));
}

bool Catalog::recreated() const { return database_->recreated; }

Result<std::vector<BlobRecord>> Catalog::load() {
  std::vector<BlobRecord> records;
  const int code = database_->mending([&] { return database_->load(records); });
  if (code != sqlite::kOk) return database_->error(code, "read");
  return records;
}

Status Catalog::apply(const Changes& changes) {
  if (changes.empty()) return {};
  const int code = database_->mending([&] { return database_->apply(changes); });
  if (code != sqlite::kOk) return database_->error(code, "write");
  return {};
}

std::vector<EvictedBlob> Catalog::evicted() {
  std::vector<EvictedBlob> blobs;
  if (!database_->connection.is_open()) return blobs;
  Statement row = database_->connection.prepare(kEvicted);
  if (!row) return blobs;
  row.bind(1, static_cast<std::int64_t>(EvictedChains::kMost));
  while (row.step() == sqlite::kRow) {
    if (const auto blob = evicted_of_row(row)) blobs.push_back(*blob);
  }
  return blobs;
}

std::int64_t Catalog::number(const std::string& name) {
  Statement& row = database_->number;
  if (!row) return 0;
  row.bind(1, name);
  const std::int64_t value = row.step() == sqlite::kRow ? row.number(0) : 0;
  row.reset();
  return value;
}

Status Catalog::set_number(const std::string& name, std::int64_t value) {
  const int code = database_->mending([&] {
    database_->set_number.bind(1, name);
    database_->set_number.bind(2, value);
    return database_->set_number.run();
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
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
