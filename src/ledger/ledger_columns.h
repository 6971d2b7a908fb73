// The columns of a turn: one list, from which the tables, the statements, what is bound and what is
// read are all made. Private to src/ledger. Pure; any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fs/sqlite.h"
#include "ledger/miss_columns.h"
#include "ledger/turn_record.h"

namespace samovar::ledger_columns {

template <class T>
concept Number = std::integral<T> || std::is_enum_v<T>;

// Calls visit(name, field) for the columns of table `turns` but the first, `seq`, and those of the
// explanation. Of what was evicted only the explanation is kept.
template <class Record, class Visit>
void turns(Record& r, Visit&& visit) {
  visit("id", r.id);
  visit("session", r.session);
  visit("session_named", r.session_named);
  visit("dialect", r.dialect);
  visit("model", r.model);
  visit("created", r.created);
  visit("ended", r.ended);
  visit("status", r.status);
  visit("finish", r.finish);
  visit("error", r.error);
  visit("messages", r.messages);
  visit("tools", r.tools);
  visit("replayed", r.replayed);
  visit("reasoning_restored", r.reasoning_restored);
  visit("neutralised", r.neutralised);
  visit("tool_order", r.tool_order);
  visit("continues", r.continues);
  visit("bound", r.bound);
  visit("text_kept", r.keep_text);
  visit("source", r.timings.source);
  visit("prompt_tokens", r.timings.prompt_tokens);
  visit("reused_tokens", r.timings.reused_tokens);
  visit("computed_tokens", r.timings.computed_tokens);
  visit("reply_tokens", r.timings.reply_tokens);
  visit("matched_tokens", r.timings.matched_tokens);
  visit("render_us", r.timings.render);
  visit("queue_us", r.timings.queue);
  visit("plan_us", r.timings.plan);
  visit("restore_us", r.timings.restore);
  visit("restore_bytes", r.timings.restore_bytes);
  visit("restore_read_us", r.timings.restore_read);
  visit("restore_verify_us", r.timings.restore_verify);
  visit("restore_set_us", r.timings.restore_set);
  visit("prefill_us", r.timings.prefill);
  visit("first_token_us", r.timings.first_token);
  visit("decode_us", r.timings.decode);
  visit("stored_tokens", r.facts.stored);
  visit("store_on", r.facts.store_on);
  visit("restores_failed", r.facts.restores_failed);
  visit("restore_problem", r.facts.restore_problem);
  visit("shape", r.shape);
}

// Their columns and those of the explanation, in the table's order.
template <class Visit>
void all(const TurnRecord& turn, Visit&& visit) {
  turns(turn, visit);
  const MissColumns miss = to_columns(turn.miss, turn.keep_text);
  visit_miss(miss, visit);
}

inline const char* sql_type(const std::string&) { return "TEXT"; }
inline const char* sql_type(const std::vector<std::uint8_t>&) { return "BLOB"; }
template <Number T>
const char* sql_type(const T&) {
  return "INTEGER";
}

// Binds the columns from parameter `at` on.
struct Bind {
  sqlite::Statement& statement;
  int at = 1;
  void operator()(const char*, const std::string& value) {
    statement.bind(at++, std::string_view(value));
  }
  void operator()(const char*, const std::vector<std::uint8_t>& value) {
    statement.bind(at++, Bytes(value));
  }
  template <Number T>
  void operator()(const char*, const T& value) {
    statement.bind(at++, static_cast<std::int64_t>(value));
  }
};

// Reads them from column `at` on.
struct Read {
  const sqlite::Statement& row;
  int at = 0;
  void operator()(const char*, std::string& value) { value = row.text(at++); }
  void operator()(const char*, std::vector<std::uint8_t>& value) {
    const std::string_view bytes = row.text(at++);
    value.assign(bytes.begin(), bytes.end());
  }
  template <Number T>
  void operator()(const char*, T& value) {
    value = static_cast<T>(row.number(at++));
  }
};

}  // namespace samovar::ledger_columns
