#include "ledger/ledger_file.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fs/sqlite.h"
#include "ledger/ledger_database.h"
#include "ledger/ledger_rows.h"

namespace samovar {
namespace {

using sqlite::Statement;
namespace rows = ledger_rows;

// Nothing of what was erased stays in the write-ahead log either.
constexpr const char* kEmptyLog = "PRAGMA wal_checkpoint(TRUNCATE)";

// What `each` makes of the rows of a query whose parameters `bind` binds. Returns a code.
template <class Value, class Bind, class Each>
int select_into(std::vector<Value>& found, LedgerDatabase& database, const std::string& text,
                const Bind& bind, const Each& each) {
  found.clear();
  Statement row = database.connection.prepare(text.c_str());
  if (!row) return database.connection.last_code();
  bind(row);
  int code = sqlite::kRow;
  while ((code = row.step()) == sqlite::kRow) found.push_back(each(row));
  return code == sqlite::kDone ? sqlite::kOk : code;
}

template <class Value, class Bind, class Each>
Result<std::vector<Value>> select(LedgerDatabase& database, const std::string& text,
                                  const Bind& bind, const Each& each) {
  std::vector<Value> found;
  const int code = database.run([&] { return select_into(found, database, text, bind, each); });
  if (code != sqlite::kOk) return database.error(code, "read");
  return found;
}

}  // namespace

LedgerFile::LedgerFile(std::unique_ptr<LedgerDatabase> database) : database_(std::move(database)) {}
LedgerFile::~LedgerFile() = default;

Result<std::unique_ptr<LedgerFile>> LedgerFile::open(const std::string& path) {
  auto database = std::make_unique<LedgerDatabase>(path);
  const int code = database->open();
  if (code != sqlite::kOk && database->newer()) {
    return fail(ErrorKind::internal,
                fmt::format("the ledger {} was written by a newer version", path), "",
                "use that version, or another --store-dir");
  }
  if (code != sqlite::kOk) return database->error(code, "open");
  return std::unique_ptr<LedgerFile>(new LedgerFile(std::move(database)));
}

std::string LedgerFile::take_notice() { return database_->take_notice(); }

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
  const auto bind = [&](Statement& row) { row.bind(1, std::string_view(id)); };
  auto found = select<TurnRecord>(*database_, rows::select_whole() + " WHERE turns.id=?1", bind,
                                  rows::read_whole);
  if (!found) return std::unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<TurnRecord>> LedgerFile::list(const TurnQuery& query) {
  const std::string text =
      (query.whole ? rows::select_whole() : rows::select_turn()) +
      " WHERE (?1='' OR turns.session=?1) AND (?2=0 OR turns.status=?2) AND "
      "(?3='' OR turns.seq<(SELECT seq FROM turns WHERE id=?3)) AND turns.text_kept>=?5 AND "
      "(?6='' OR turns.dialect=?6) ORDER BY turns.seq DESC LIMIT ?4";
  const auto bind = [&](Statement& row) {
    row.bind(1, std::string_view(query.session));
    row.bind(2, query.status ? static_cast<std::int64_t>(*query.status) : 0);
    row.bind(3, std::string_view(query.before));
    row.bind(4, std::int64_t{query.limit});
    row.bind(5, std::int64_t{query.text_only});
    row.bind(6, std::string_view(query.dialect));
  };
  return select<TurnRecord>(*database_, text, bind,
                            query.whole ? rows::read_whole : rows::read_turn);
}

Result<std::vector<TurnRecord>> LedgerFile::replies_at(const Sha256& context, int limit) {
  const std::string text =
      rows::select_with_reply() + " WHERE replies.context=?1 ORDER BY replies.seq DESC LIMIT ?2";
  const auto bind = [&](Statement& row) {
    row.bind(1, Bytes(context));
    row.bind(2, std::int64_t{limit});
  };
  return select<TurnRecord>(*database_, text, bind, rows::read_with_reply);
}

Result<std::vector<Sha256>> LedgerFile::contexts() {
  return select<Sha256>(
      *database_, "SELECT DISTINCT context FROM replies", [](Statement&) {},
      [](const Statement& row) {
        Sha256 context{};
        (void)row.copy(0, context);
        return context;
      });
}

Result<std::int64_t> LedgerFile::interrupt_running(std::int64_t now, const std::string& why) {
  const int code = database_->run([&] {
    Statement row = database_->connection.prepare(
        "UPDATE turns SET status=?1,ended=?2,error=?3,reply_tokens=coalesce((SELECT "
        "length(tokens)/4 FROM replies WHERE replies.seq=turns.seq),0) WHERE status=?4");
    if (!row) return database_->connection.last_code();
    row.bind(1, static_cast<std::int64_t>(TurnStatus::incomplete));
    row.bind(2, now);
    row.bind(3, std::string_view(why));
    row.bind(4, static_cast<std::int64_t>(TurnStatus::running));
    return row.run();
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
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

bool LedgerFile::in_memory() const { return database_->in_memory(); }

Result<std::int64_t> LedgerFile::bytes() {
  std::int64_t bytes = 0;
  const int code = database_->run([&] { return database_->bytes(bytes); });
  if (code != sqlite::kOk) return database_->error(code, "read");
  return bytes;
}

Result<bool> LedgerFile::keep_within(std::int64_t most) {
  const std::string oldest_text = fmt::format(
      "SELECT seq FROM texts WHERE seq<(SELECT seq FROM texts ORDER BY seq DESC LIMIT 1 OFFSET {}) "
      "AND (SELECT status FROM turns WHERE turns.seq=texts.seq)!=1 ORDER BY seq LIMIT 1",
      kTextsFirst - 1);
  bool dropped = false;
  const int code = database_->change([&] {
    std::int64_t bytes = 0;
    for (;;) {
      int done = database_->bytes(bytes);
      if (done != sqlite::kOk || bytes <= most) return done;
      std::int64_t row = 0;
      done = database_->number(oldest_text.c_str(), row);
      const bool has_text = row != 0;
      if (done == sqlite::kOk && !has_text) {
        done = database_->number("SELECT seq FROM turns WHERE status!=1 ORDER BY seq LIMIT 1", row);
      }
      if (done != sqlite::kOk || row == 0) return done;
      done = has_text ? database_->erase_text(row) : database_->erase(row);
      if (done != sqlite::kOk) return done;
      dropped = true;
    }
  });
  if (code != sqlite::kOk) return database_->error(code, "shorten");
  return dropped;
}

Result<bool> LedgerFile::erase(const std::string& id) {
  std::int64_t row = 0;
  const int code = database_->change([&] {
    const int found = database_->row_of(id, row);
    return found == sqlite::kOk && row != 0 ? database_->erase(row) : found;
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
  database_->connection.execute(kEmptyLog);
  return row != 0;
}

Result<PurgedTurns> LedgerFile::purge_session(const std::string& session) {
  struct Row {
    std::int64_t seq = 0;
    std::optional<Sha256> context;
  };
  std::vector<Row> found;
  const auto bind = [&](Statement& row) { row.bind(1, std::string_view(session)); };
  const auto read = [](const Statement& row) {
    Row one{.seq = row.number(0), .context = {}};
    if (Sha256 context{}; row.copy(1, context)) one.context = context;
    return one;
  };
  const int code = database_->change([&] {
    const int selected = select_into(
        found, *database_,
        "SELECT turns.seq,replies.context FROM turns LEFT JOIN replies USING(seq) WHERE session=?1",
        bind, read);
    if (selected != sqlite::kOk) return selected;
    for (const Row& row : found) {
      if (const int erased = database_->erase(row.seq); erased != sqlite::kOk) return erased;
    }
    return sqlite::kOk;
  });
  if (code != sqlite::kOk) return database_->error(code, "write");
  database_->connection.execute(kEmptyLog);
  PurgedTurns purged{.turns = static_cast<std::int64_t>(found.size()), .contexts = {}};
  for (const Row& row : found) {
    if (row.context) purged.contexts.push_back(*row.context);
  }
  return purged;
}

}  // namespace samovar
