#include "ledger/ledger_rows.h"

#include <fmt/format.h>

#include <cstring>

#include "ledger/ledger_columns.h"

namespace samovar::ledger_rows {
namespace {

using sqlite::Statement;
namespace columns = ledger_columns;

Tokens tokens_of(std::string_view bytes) {
  Tokens tokens(bytes.size() / sizeof(Token));
  if (!tokens.empty()) std::memcpy(tokens.data(), bytes.data(), tokens.size() * sizeof(Token));
  return tokens;
}

// The separator of lists is a control character that no format uses.
constexpr char kSeparator = '\x1F';

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
constexpr int kReplyColumnCount = 7;

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

}  // namespace

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

std::string turn_columns(const char* before) {
  const TurnRecord none;
  std::string list;
  columns::all(none, [&](const char* name, const auto&) {
    list += fmt::format("{}{}{}", list.empty() ? "" : ",", before, name);
  });
  return list;
}

int count_turn_columns() {
  const TurnRecord none;
  int count = 0;
  columns::all(none, [&](const char*, const auto&) { ++count; });
  return count;
}

std::string select_turn() { return fmt::format("SELECT {} FROM turns", turn_columns("turns.")); }

std::string select_whole() {
  return fmt::format(
      "SELECT {},{},texts.prompt,texts.request,texts.message FROM turns "
      "LEFT JOIN replies ON replies.seq=turns.seq LEFT JOIN syntaxes USING(syntax) "
      "LEFT JOIN texts ON texts.seq=turns.seq",
      turn_columns("turns."), kReplyColumns);
}

std::string select_with_reply() {
  return fmt::format(
      "SELECT {},{} FROM replies JOIN turns ON turns.seq=replies.seq JOIN syntaxes USING(syntax)",
      turn_columns("turns."), kReplyColumns);
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

TurnRecord read_with_reply(const Statement& row) {
  TurnRecord turn = read_turn(row);
  read_reply(row, count_turn_columns(), turn);
  return turn;
}

TurnRecord read_whole(const Statement& row) {
  TurnRecord turn = read_with_reply(row);
  const int texts = count_turn_columns() + kReplyColumnCount;
  if (row.is_null(texts)) return turn;
  turn.prompt = tokens_of(row.text(texts));
  turn.request = row.text(texts + 1);
  turn.message = row.text(texts + 2);
  return turn;
}

Bytes bytes_of(const Tokens& tokens) {
  return {reinterpret_cast<const std::uint8_t*>(tokens.data()), tokens.size() * sizeof(Token)};
}

std::string join(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += each + kSeparator;
  return text;
}

}  // namespace samovar::ledger_rows
