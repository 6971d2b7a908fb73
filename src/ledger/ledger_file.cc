#include "ledger/ledger_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "fs/sqlite.h"
#include "ledger/ledger_columns.h"

namespace samovar {
namespace {

using sqlite::Statement;
namespace columns = ledger_columns;

constexpr int kVersion = 1;  // of the tables
constexpr int kValueMax = 256 << 20;

// Overwrites what is deleted; a finished turn is on the disk when put() returns.
constexpr const char* kSettings =
    "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;"
    "PRAGMA secure_delete=ON;PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;"
    "PRAGMA journal_size_limit=4194304;";

std::string names(const char* before) {
  const TurnRecord none;
  std::string list;
  columns::all(none, [&](const char* name, const auto&) {
    list += fmt::format("{}{}{}", list.empty() ? "" : ",", before, name);
  });
  return list;
}

std::array<std::string, 6> table_texts() {
  const TurnRecord none;
  std::string turns = "CREATE TABLE turns(seq INTEGER PRIMARY KEY";
  columns::all(none, [&](const char* name, const auto& field) {
    turns += fmt::format(",{} {} NOT NULL", name, columns::sql_type(field));
  });
  return {
      turns + ",UNIQUE(id))",
      "CREATE INDEX turns_session ON turns(session)",
      "CREATE TABLE replies(seq INTEGER PRIMARY KEY,context BLOB NOT NULL,primer BLOB NOT NULL,"
      "tokens BLOB NOT NULL,syntax INTEGER NOT NULL,expires INTEGER NOT NULL)",
      "CREATE INDEX replies_context ON replies(context)",
      "CREATE TABLE syntaxes(syntax INTEGER PRIMARY KEY,format INTEGER NOT NULL,"
      "generation_prompt TEXT NOT NULL,parser TEXT NOT NULL,stops TEXT NOT NULL,"
      "UNIQUE(format,generation_prompt,parser,stops))",
      "CREATE TABLE texts(seq INTEGER PRIMARY KEY,prompt BLOB NOT NULL,request TEXT NOT NULL,"
      "message TEXT NOT NULL)",
  };
}

Bytes bytes_of(const Tokens& tokens) {
  return {reinterpret_cast<const std::uint8_t*>(tokens.data()), tokens.size() * sizeof(Token)};
}

Tokens tokens_of(std::string_view bytes) {
  Tokens tokens(bytes.size() / sizeof(Token));
  if (!tokens.empty()) std::memcpy(tokens.data(), bytes.data(), tokens.size() * sizeof(Token));
  return tokens;
}

// A list of texts as one; the separator is a control character that no format uses.
constexpr char kSeparator = '\x1F';

std::string join(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += each + kSeparator;
  return text;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> list;
  for (std::size_t end; (end = text.find(kSeparator)) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    list.emplace_back(text.substr(0, end));
  }
  return list;
}

constexpr const char* kReplyColumns =
    "replies.context,replies.primer,replies.tokens,syntaxes.format,syntaxes.generation_prompt,"
    "syntaxes.parser,syntaxes.stops";

// From column `at` on, as kReplyColumns has them.
void read_reply(const Statement& row, int at, TurnRecord& turn) {
  if (row.is_null(at)) return;
  (void)row.copy(at, turn.context);
  turn.primer = tokens_of(row.text(at + 1));
  turn.reply = tokens_of(row.text(at + 2));
  turn.syntax.format = static_cast<int>(row.number(at + 3));
  turn.syntax.generation_prompt = row.text(at + 4);
  turn.syntax.parser = row.text(at + 5);
  turn.syntax.stop = split(row.text(at + 6));
}

int count_columns() {
  const TurnRecord none;
  int count = 0;
  columns::all(none, [&](const char*, const auto&) { ++count; });
  return count;
}

TurnRecord read_turn(const Statement& row) {
  TurnRecord turn;
  columns::Read read{row};
  columns::turns(turn, read);
  MissColumns miss;
  visit_miss(miss, read);
  turn.miss = to_explanation(miss);
  return turn;
}

}  // namespace

struct LedgerFile::Database {
  explicit Database(std::string at) : path(std::move(at)) {}

  int open();
  int check_tables();
  int prepare();
  void close();
  int row_of(const std::string& id, std::int64_t& row);
  int put(const TurnRecord& turn, std::int64_t expires);
  int put_reply(std::int64_t row, const TurnRecord& turn, std::int64_t expires);
  int erase(std::int64_t row);

  // Does `work` as one transaction.
  template <class Work>
  int change(const Work& work) {
    int code = connection.execute("BEGIN IMMEDIATE");
    if (code != sqlite::kOk) return code;
    code = work();
    if (code == sqlite::kOk) code = connection.execute("COMMIT");
    if (code != sqlite::kOk) connection.execute("ROLLBACK");
    return code;
  }
  [[nodiscard]] std::unexpected<Error> error(int code, const char* what) const {
    return fail(ErrorKind::internal,
                fmt::format("cannot {} the ledger {}: {}", what, path, sqlite::describe(code)));
  }

  const std::string path;
  sqlite::Connection connection;
  bool newer = false;  // of a version that this program does not know
  Statement find_row, put_turn, add_syntax, find_syntax, put_reply_row, put_text;
};

int LedgerFile::Database::open() {
  if (const int code = connection.open(path, kValueMax); code != sqlite::kOk) return code;
  if (const int code = connection.execute(kSettings); code != sqlite::kOk) return code;
  if (const int code = check_tables(); code != sqlite::kOk) return code;
  return prepare();
}

int LedgerFile::Database::check_tables() {
  Statement version = connection.prepare("PRAGMA user_version");
  if (!version || version.step() != sqlite::kRow) return connection.last_code();
  const std::int64_t found = version.number(0);
  version = Statement();
  newer = found > kVersion;
  if (newer) return sqlite::kCorrupt;
  Statement tables =
      connection.prepare("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name");
  if (!tables) return connection.last_code();
  std::vector<std::string> there;
  int code = sqlite::kRow;
  while ((code = tables.step()) == sqlite::kRow) there.emplace_back(tables.text(0));
  if (code != sqlite::kDone) return code;
  tables = Statement();
  const auto wanted = table_texts();
  if (there.empty() && found == 0) {
    return change([&] {
      std::string text;
      for (const std::string& table : wanted) text += table + ";";
      return connection.execute(fmt::format("{}PRAGMA user_version={}", text, kVersion).c_str());
    });
  }
  const bool same = there.size() == wanted.size() && std::ranges::is_permutation(there, wanted) &&
                    found == kVersion;
  return same ? sqlite::kOk : sqlite::kCorrupt;
}

int LedgerFile::Database::prepare() {
  std::string values;
  for (int i = 1; i <= count_columns(); ++i) values += fmt::format("{}?{}", i > 1 ? "," : "", i);
  const std::string all = names("");
  std::string excluded = names("excluded.");
  const std::string put_text_sql = fmt::format(
      "INSERT INTO turns({}) VALUES({}) ON CONFLICT(id) DO UPDATE SET ({})=({}) RETURNING seq", all,
      values, all, excluded);
  put_turn = connection.prepare(put_text_sql.c_str());
  find_row = connection.prepare("SELECT seq FROM turns WHERE id=?1");
  add_syntax = connection.prepare(
      "INSERT OR IGNORE INTO syntaxes(format,generation_prompt,parser,stops) "
      "VALUES(?1,?2,?3,?4)");
  find_syntax = connection.prepare(
      "SELECT syntax FROM syntaxes WHERE format=?1 AND generation_prompt=?2 AND parser=?3 "
      "AND stops=?4");
  put_reply_row = connection.prepare(
      "INSERT OR REPLACE INTO replies(seq,context,primer,tokens,syntax,expires) "
      "VALUES(?1,?2,?3,?4,?5,?6)");
  put_text = connection.prepare(
      "INSERT OR REPLACE INTO texts(seq,prompt,request,message) VALUES(?1,?2,?3,?4)");
  const bool ready = put_turn && find_row && add_syntax && find_syntax && put_reply_row && put_text;
  return ready ? sqlite::kOk : sqlite::kCorrupt;
}

void LedgerFile::Database::close() {
  for (Statement* statement :
       {&find_row, &put_turn, &add_syntax, &find_syntax, &put_reply_row, &put_text}) {
    *statement = Statement();
  }
  connection.close();
}

// kOk with row 0: there is no such turn.
int LedgerFile::Database::row_of(const std::string& id, std::int64_t& row) {
  find_row.bind(1, std::string_view(id));
  const int code = find_row.step();
  row = code == sqlite::kRow ? find_row.number(0) : 0;
  find_row.reset();
  return code == sqlite::kRow || code == sqlite::kDone ? sqlite::kOk : code;
}

int LedgerFile::Database::put(const TurnRecord& turn, std::int64_t expires) {
  const MissColumns miss = to_columns(turn.miss, turn.keep_text);  // outlives the statement's run
  columns::Bind bind{put_turn};
  columns::turns(turn, bind);
  visit_miss(miss, bind);
  int code = put_turn.step();
  if (code != sqlite::kRow) {
    put_turn.reset();
    return code;
  }
  const std::int64_t row = put_turn.number(0);
  put_turn.reset();
  if (code = put_reply(row, turn, expires); code != sqlite::kOk) return code;
  const bool resumable = turn.status != TurnStatus::complete && !turn.prompt.empty();
  if (!resumable && !turn.keep_text) {
    return connection.execute(fmt::format("DELETE FROM texts WHERE seq={}", row).c_str());
  }
  put_text.bind(1, row);
  put_text.bind(2, resumable ? bytes_of(turn.prompt) : Bytes());
  const std::string_view none;
  put_text.bind(3, turn.keep_text ? std::string_view(turn.request) : none);
  put_text.bind(4, turn.keep_text ? std::string_view(turn.message) : none);
  return put_text.run();
}

int LedgerFile::Database::put_reply(std::int64_t row, const TurnRecord& turn,
                                    std::int64_t expires) {
  if (turn.reply.empty()) return sqlite::kOk;
  const std::string stops = join(turn.syntax.stop);
  for (Statement* statement : {&add_syntax, &find_syntax}) {
    statement->bind(4, std::string_view(stops));
    statement->bind(1, std::int64_t{turn.syntax.format});
    statement->bind(2, std::string_view(turn.syntax.generation_prompt));
    statement->bind(3, std::string_view(turn.syntax.parser));
  }
  if (const int code = add_syntax.run(); code != sqlite::kOk) return code;
  const int found = find_syntax.step();
  const std::int64_t syntax = found == sqlite::kRow ? find_syntax.number(0) : 0;
  find_syntax.reset();
  if (found != sqlite::kRow) return found;
  put_reply_row.bind(1, row);
  put_reply_row.bind(2, Bytes(turn.context));
  put_reply_row.bind(3, bytes_of(turn.primer));
  put_reply_row.bind(4, bytes_of(turn.reply));
  put_reply_row.bind(5, syntax);
  put_reply_row.bind(6, expires);
  return put_reply_row.run();
}

int LedgerFile::Database::erase(std::int64_t row) {
  return connection.execute(
      fmt::format("DELETE FROM turns WHERE seq={0};DELETE FROM replies WHERE seq={0};"
                  "DELETE FROM texts WHERE seq={0};",
                  row)
          .c_str());
}

LedgerFile::LedgerFile(std::unique_ptr<Database> database) : database_(std::move(database)) {}
LedgerFile::~LedgerFile() { database_->close(); }

Result<std::unique_ptr<LedgerFile>> LedgerFile::open(const std::string& path) {
  auto database = std::make_unique<Database>(path);
  int code = database->open();
  std::string notice;
  if (code != sqlite::kOk && database->newer) {
    return fail(ErrorKind::internal,
                fmt::format("the ledger {} was written by a newer version", path), "",
                "use that version, or another --store-dir");
  }
  if (sqlite::is_damage(code)) {
    database->close();
    std::error_code ignored;  // opening it tells
    for (const char* suffix : {"-wal", "-shm", "-journal"}) {
      std::filesystem::remove(path + suffix, ignored);
    }
    std::filesystem::rename(path, path + ".damaged", ignored);
    notice =
        fmt::format("the ledger was damaged ({}); it is kept as {}.damaged and a new one begun",
                    sqlite::describe(code), path);
    code = database->open();
  }
  if (code != sqlite::kOk) {
    auto error = database->error(code, "open");
    database->close();
    return error;
  }
  std::unique_ptr<LedgerFile> file(new LedgerFile(std::move(database)));
  file->notice_ = std::move(notice);
  return file;
}

Status LedgerFile::put(const std::vector<TurnRecord>& turns, std::int64_t reply_expires) {
  const int code = database_->change([&] {
    for (const TurnRecord& turn : turns) {
      if (const int put = database_->put(turn, reply_expires); put != sqlite::kOk) return put;
    }
    return sqlite::kOk;
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
  return {};
}

Status LedgerFile::put_replies(const std::vector<TurnRecord>& turns, std::int64_t reply_expires) {
  const int code = database_->change([&] {
    for (const TurnRecord& turn : turns) {
      std::int64_t row = 0;
      int put = database_->row_of(turn.id, row);
      if (put == sqlite::kOk && row != 0) put = database_->put_reply(row, turn, reply_expires);
      if (put != sqlite::kOk) return put;
    }
    return sqlite::kOk;
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
  return {};
}

Result<std::optional<TurnRecord>> LedgerFile::find(const std::string& id) {
  const std::string text = fmt::format(
      "SELECT {},{},texts.prompt,texts.request,texts.message FROM turns "
      "LEFT JOIN replies ON replies.seq=turns.seq LEFT JOIN syntaxes USING(syntax) "
      "LEFT JOIN texts ON texts.seq=turns.seq WHERE turns.id=?1",
      names("turns."), kReplyColumns);
  Statement row = database_->connection.prepare(text.c_str());
  if (!row) return database_->error(database_->connection.last_code(), "read");
  row.bind(1, std::string_view(id));
  const int code = row.step();
  if (code == sqlite::kDone) return std::nullopt;
  if (code != sqlite::kRow) return database_->error(code, "read");
  TurnRecord turn = read_turn(row);
  const int rest = count_columns();
  read_reply(row, rest, turn);
  if (!row.is_null(rest + 7)) {
    turn.prompt = tokens_of(row.text(rest + 7));
    turn.request = row.text(rest + 8);
    turn.message = row.text(rest + 9);
  }
  return turn;
}

Result<std::vector<TurnRecord>> LedgerFile::list(const TurnQuery& query) {
  const std::string text = fmt::format(
      "SELECT {} FROM turns WHERE (?1='' OR session=?1) AND (?2=0 OR status=?2) AND "
      "(?3='' OR seq<(SELECT seq FROM turns WHERE id=?3)) AND text_kept>=?5 AND "
      "(?6='' OR dialect=?6) ORDER BY seq DESC "
      "LIMIT ?4",
      names(""));
  Statement row = database_->connection.prepare(text.c_str());
  if (!row) return database_->error(database_->connection.last_code(), "read");
  row.bind(1, std::string_view(query.session));
  row.bind(2, query.status ? static_cast<std::int64_t>(*query.status) : 0);
  row.bind(3, std::string_view(query.before));
  row.bind(4, std::int64_t{query.limit});
  row.bind(5, std::int64_t{query.text_only});
  row.bind(6, std::string_view(query.dialect));
  std::vector<TurnRecord> turns;
  int code = sqlite::kRow;
  while ((code = row.step()) == sqlite::kRow) turns.push_back(read_turn(row));
  if (code != sqlite::kDone) return database_->error(code, "read");
  return turns;
}

Result<std::vector<TurnRecord>> LedgerFile::replies_at(const Sha256& context, int limit) {
  const std::string text = fmt::format(
      "SELECT {},{} FROM replies JOIN turns ON turns.seq=replies.seq JOIN syntaxes USING(syntax) "
      "WHERE replies.context=?1 ORDER BY replies.seq DESC LIMIT ?2",
      names("turns."), kReplyColumns);
  Statement row = database_->connection.prepare(text.c_str());
  if (!row) return database_->error(database_->connection.last_code(), "read");
  row.bind(1, Bytes(context));
  row.bind(2, std::int64_t{limit});
  std::vector<TurnRecord> turns;
  int code = sqlite::kRow;
  while ((code = row.step()) == sqlite::kRow) {
    read_reply(row, count_columns(), turns.emplace_back(read_turn(row)));
  }
  if (code != sqlite::kDone) return database_->error(code, "read");
  return turns;
}

Result<std::vector<Sha256>> LedgerFile::contexts() {
  Statement row = database_->connection.prepare("SELECT DISTINCT context FROM replies");
  if (!row) return database_->error(database_->connection.last_code(), "read");
  std::vector<Sha256> all;
  int code = sqlite::kRow;
  while ((code = row.step()) == sqlite::kRow) (void)row.copy(0, all.emplace_back());
  if (code != sqlite::kDone) return database_->error(code, "read");
  return all;
}

Result<std::int64_t> LedgerFile::interrupt_running(std::int64_t now, const std::string& why) {
  Statement row = database_->connection.prepare(
      "UPDATE turns SET status=?1,ended=?2,error=?3,reply_tokens=coalesce((SELECT "
      "length(tokens)/4 FROM replies WHERE replies.seq=turns.seq),0) WHERE status=?4");
  if (!row) return database_->error(database_->connection.last_code(), "write");
  row.bind(1, static_cast<std::int64_t>(TurnStatus::incomplete));
  row.bind(2, now);
  row.bind(3, std::string_view(why));
  row.bind(4, static_cast<std::int64_t>(TurnStatus::running));
  if (const int code = row.run(); code != sqlite::kOk) return database_->error(code, "write");
  return database_->connection.changes();
}

Status LedgerFile::expire(std::int64_t now, std::int64_t turns_before, std::int64_t tokens_before) {
  const std::string text = fmt::format(
      "DELETE FROM turns WHERE created<{0} AND status!=1;"
      "DELETE FROM replies WHERE expires<={1} OR seq NOT IN (SELECT seq FROM turns);"
      "DELETE FROM texts WHERE seq NOT IN (SELECT seq FROM turns);"
      "UPDATE texts SET prompt=x'' WHERE length(prompt)>0 AND seq IN "
      "(SELECT seq FROM turns WHERE created<={2} AND status!=1);"
      "DELETE FROM syntaxes WHERE syntax NOT IN (SELECT syntax FROM replies);",
      turns_before, now, tokens_before);
  const int code = database_->change([&] { return database_->connection.execute(text.c_str()); });
  if (code != sqlite::kOk) return database_->error(code, "write");
  return {};
}

Result<bool> LedgerFile::erase(const std::string& id) {
  std::int64_t row = 0;
  const int code = database_->change([&] {
    const int found = database_->row_of(id, row);
    return found == sqlite::kOk && row != 0 ? database_->erase(row) : found;
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
  database_->connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  return row != 0;
}

Result<std::int64_t> LedgerFile::purge_session(const std::string& session) {
  std::vector<std::int64_t> rows;
  const int code = database_->change([&] {
    Statement row = database_->connection.prepare("SELECT seq FROM turns WHERE session=?1");
    if (!row) return database_->connection.last_code();
    row.bind(1, std::string_view(session));
    int step = sqlite::kRow;
    while ((step = row.step()) == sqlite::kRow) rows.push_back(row.number(0));
    if (step != sqlite::kDone) return step;
    row = Statement();
    for (const std::int64_t one : rows) {
      if (const int erased = database_->erase(one); erased != sqlite::kOk) return erased;
    }
    return sqlite::kOk;
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
  // Nothing of it stays in the write-ahead log either.
  database_->connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  return static_cast<std::int64_t>(rows.size());
}

}  // namespace samovar
