#include "ledger/ledger_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "ledger/ledger_columns.h"
#include "ledger/ledger_rows.h"

namespace samovar {
namespace {

using sqlite::Statement;
namespace columns = ledger_columns;
namespace rows = ledger_rows;

constexpr int kValueMax = 256 << 20;

// Overwrites what is deleted; a finished turn is on the disk when put() returns.
constexpr const char* kSettings =
    "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;"
    "PRAGMA secure_delete=ON;PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;"
    "PRAGMA journal_size_limit=4194304;";

}  // namespace

// Before any statement of ours has run, other tables are damage as well.
int LedgerDatabase::open() {
  const int code = open_as_it_is();
  return sqlite::is_damage(code) && !newer_ ? begin_anew(code) : code;
}

int LedgerDatabase::open_as_it_is() {
  int code = connection.open(path_, kValueMax);
  if (code == sqlite::kOk) code = connection.execute(kSettings);
  if (code == sqlite::kOk) code = check_tables();
  if (code == sqlite::kOk) code = prepare();
  if (code != sqlite::kOk) close();
  return code;
}

int LedgerDatabase::begin_anew(int why) {
  close();
  if (!set_aside()) return why;
  const int code = open_as_it_is();
  if (code != sqlite::kOk) return code;
  notice_ = fmt::format(
      "the ledger was damaged ({}); it is kept as {}.damaged and a new one begun. Check the disk; "
      "remove the file when nothing is to be saved from it",
      sqlite::describe(why), path_);
  return code;
}

// With its write-ahead log, under a name by which SQLite finds both. False: it cannot be moved.
bool LedgerDatabase::set_aside() {
  std::error_code ignored;
  const std::string aside = path_ + ".damaged";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(aside + suffix, ignored);
  }
  for (const char* suffix : {"-shm", "-journal"}) std::filesystem::remove(path_ + suffix, ignored);
  std::filesystem::rename(path_ + "-wal", aside + "-wal", ignored);
  std::error_code failed;
  std::filesystem::rename(path_, aside, failed);
  return !failed;
}

int LedgerDatabase::check_tables() {
  Statement version = connection.prepare("PRAGMA user_version");
  if (!version || version.step() != sqlite::kRow) return connection.last_code();
  const std::int64_t found = version.number(0);
  version = Statement();
  newer_ = found > rows::kVersion;
  if (newer_) return sqlite::kCorrupt;
  Statement tables =
      connection.prepare("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name");
  if (!tables) return connection.last_code();
  std::vector<std::string> there;
  int code = sqlite::kRow;
  while ((code = tables.step()) == sqlite::kRow) there.emplace_back(tables.text(0));
  if (code != sqlite::kDone) return code;
  tables = Statement();
  const auto wanted = rows::table_texts();
  if (there.empty() && found == 0) {
    return transact([&] {
      std::string text;
      for (const std::string& table : wanted) text += table + ";";
      return connection.execute(
          fmt::format("{}PRAGMA user_version={}", text, rows::kVersion).c_str());
    });
  }
  const bool same = there.size() == wanted.size() && std::ranges::is_permutation(there, wanted) &&
                    found == rows::kVersion;
  return same ? sqlite::kOk : sqlite::kCorrupt;
}

int LedgerDatabase::prepare() {
  std::string values;
  for (int i = 1; i <= rows::count_turn_columns(); ++i)
    values += fmt::format("{}?{}", i > 1 ? "," : "", i);
  const std::string all = rows::turn_columns("");
  std::string excluded = rows::turn_columns("excluded.");
  const std::string put_turn = fmt::format(
      "INSERT INTO turns({}) VALUES({}) ON CONFLICT(id) DO UPDATE SET ({})=({}) RETURNING seq", all,
      values, all, excluded);
  put_turn_ = connection.prepare(put_turn.c_str());
  find_row_ = connection.prepare("SELECT seq FROM turns WHERE id=?1");
  add_syntax_ = connection.prepare(
      "INSERT OR IGNORE INTO syntaxes(format,generation_prompt,parser,stops) "
      "VALUES(?1,?2,?3,?4)");
  find_syntax_ = connection.prepare(
      "SELECT syntax FROM syntaxes WHERE format=?1 AND generation_prompt=?2 AND parser=?3 "
      "AND stops=?4");
  put_reply_ = connection.prepare(
      "INSERT OR REPLACE INTO replies(seq,context,primer,tokens,syntax,expires) "
      "VALUES(?1,?2,?3,?4,?5,?6)");
  put_text_ = connection.prepare(
      "INSERT OR REPLACE INTO texts(seq,prompt,request,message) VALUES(?1,?2,?3,?4)");
  const bool ready =
      put_turn_ && find_row_ && add_syntax_ && find_syntax_ && put_reply_ && put_text_;
  return ready ? sqlite::kOk : sqlite::kCorrupt;
}

void LedgerDatabase::close() {
  for (Statement* statement :
       {&find_row_, &put_turn_, &add_syntax_, &find_syntax_, &put_reply_, &put_text_}) {
    *statement = Statement();
  }
  connection.close();
}

std::unexpected<Error> LedgerDatabase::error(int code, const char* what) const {
  return fail(ErrorKind::internal,
              fmt::format("cannot {} the ledger {}: {}", what, path_, sqlite::describe(code)));
}

int LedgerDatabase::row_of(const std::string& id, std::int64_t& row) {
  find_row_.bind(1, std::string_view(id));
  const int code = find_row_.step();
  row = code == sqlite::kRow ? find_row_.number(0) : 0;
  find_row_.reset();
  return code == sqlite::kRow || code == sqlite::kDone ? sqlite::kOk : code;
}

int LedgerDatabase::put(const TurnRecord& turn, std::int64_t expires) {
  const MissColumns miss = to_columns(turn.miss, turn.keep_text);  // outlives the statement's run
  columns::Bind bind{put_turn_};
  columns::turns(turn, bind);
  visit_miss(miss, bind);
  int code = put_turn_.step();
  if (code != sqlite::kRow) {
    put_turn_.reset();
    return code;
  }
  const std::int64_t row = put_turn_.number(0);
  put_turn_.reset();
  if (code = put_reply(row, turn, expires); code != sqlite::kOk) return code;
  const bool resumable = turn.status != TurnStatus::complete && !turn.prompt.empty();
  if (!resumable && !turn.keep_text) {
    return connection.execute(fmt::format("DELETE FROM texts WHERE seq={}", row).c_str());
  }
  put_text_.bind(1, row);
  put_text_.bind(2, resumable ? rows::bytes_of(turn.prompt) : Bytes());
  const std::string_view none;
  put_text_.bind(3, turn.keep_text ? std::string_view(turn.request) : none);
  put_text_.bind(4, turn.keep_text ? std::string_view(turn.message) : none);
  return put_text_.run();
}

int LedgerDatabase::put_reply(std::int64_t row, const TurnRecord& turn, std::int64_t expires) {
  if (turn.reply.empty()) return sqlite::kOk;
  const std::string stops = rows::join(turn.syntax.stop);
  for (Statement* statement : {&add_syntax_, &find_syntax_}) {
    statement->bind(4, std::string_view(stops));
    statement->bind(1, std::int64_t{turn.syntax.format});
    statement->bind(2, std::string_view(turn.syntax.generation_prompt));
    statement->bind(3, std::string_view(turn.syntax.parser));
  }
  if (const int code = add_syntax_.run(); code != sqlite::kOk) return code;
  const int found = find_syntax_.step();
  const std::int64_t syntax = found == sqlite::kRow ? find_syntax_.number(0) : 0;
  find_syntax_.reset();
  if (found != sqlite::kRow) return found;
  put_reply_.bind(1, row);
  put_reply_.bind(2, Bytes(turn.context));
  put_reply_.bind(3, rows::bytes_of(turn.primer));
  put_reply_.bind(4, rows::bytes_of(turn.reply));
  put_reply_.bind(5, syntax);
  put_reply_.bind(6, expires);
  return put_reply_.run();
}

int LedgerDatabase::erase(std::int64_t row) {
  return connection.execute(
      fmt::format("DELETE FROM turns WHERE seq={0};DELETE FROM replies WHERE seq={0};"
                  "DELETE FROM texts WHERE seq={0};",
                  row)
          .c_str());
}

int LedgerDatabase::erase_text(std::int64_t row) {
  return connection.execute(fmt::format("DELETE FROM texts WHERE seq={0};"
                                        "UPDATE turns SET text_kept=0 WHERE seq={0};",
                                        row)
                                .c_str());
}

int LedgerDatabase::number(const char* query, std::int64_t& value) {
  Statement row = connection.prepare(query);
  if (!row) return connection.last_code();
  const int code = row.step();
  value = code == sqlite::kRow ? row.number(0) : 0;
  return code == sqlite::kRow || code == sqlite::kDone ? sqlite::kOk : code;
}

int LedgerDatabase::bytes(std::int64_t& used) {
  std::int64_t pages = 0;
  std::int64_t free = 0;
  std::int64_t size = 0;
  int code = number("PRAGMA page_count", pages);
  if (code == sqlite::kOk) code = number("PRAGMA freelist_count", free);
  if (code == sqlite::kOk) code = number("PRAGMA page_size", size);
  used = (pages - free) * size;
  return code;
}

}  // namespace samovar
