// How a turn stands in the ledger's tables: their SQL, and a turn read from a row or bound to a
// statement. Private to src/ledger. Pure; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "core/tokens.h"
#include "fs/sqlite.h"
#include "ledger/turn_record.h"

namespace samovar::ledger_rows {

inline constexpr int kVersion = 1;  // of the tables

// What makes them, in any order; the texts that a file's own must be equal to.
[[nodiscard]] std::array<std::string, 6> table_texts();

// The columns of `turns` but `seq`, each with `before` before it, and how many they are.
[[nodiscard]] std::string turn_columns(const char* before);
[[nodiscard]] int count_turn_columns();

// Queries without conditions, and what reads their rows: the figures of turns; those of turns that
// have a reply, with its tokens; everything that is kept of turns.
[[nodiscard]] std::string select_turn();
[[nodiscard]] TurnRecord read_turn(const sqlite::Statement& row);
[[nodiscard]] std::string select_with_reply();
[[nodiscard]] TurnRecord read_with_reply(const sqlite::Statement& row);
[[nodiscard]] std::string select_whole();
[[nodiscard]] TurnRecord read_whole(const sqlite::Statement& row);

[[nodiscard]] Bytes bytes_of(const Tokens& tokens);

// A list of texts as one.
[[nodiscard]] std::string join(const std::vector<std::string>& list);

}  // namespace samovar::ledger_rows
