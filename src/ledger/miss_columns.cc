#include "ledger/miss_columns.h"

#include <cmath>

namespace samovar {
namespace {

template <class T>
std::int64_t number(const std::optional<T>& value) {
  return value ? static_cast<std::int64_t>(*value) : -1;
}

template <class T>
std::optional<T> optional(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional<T>(static_cast<T>(value));
}

std::optional<Cause> cause_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Cause::partly_reused_granularity); ++i) {
    if (name == to_string(static_cast<Cause>(i))) return static_cast<Cause>(i);
  }
  return std::nullopt;
}

}  // namespace

MissColumns to_columns(const std::optional<Explanation>& miss, bool with_text) {
  MissColumns columns;
  if (!miss) return columns;
  columns.cause = to_string(miss->cause);
  columns.title = miss->title;
  columns.detail = miss->detail;
  columns.remedy = miss->remedy;
  columns.tokens_lost = miss->tokens_lost;
  columns.estimated = miss->estimated;
  if (miss->seconds_lost) columns.lost_us = std::llround(*miss->seconds_lost * 1e6);
  columns.kept_reply = miss->kept_reply;
  columns.has_place = miss->first.has_value();
  if (!miss->first) return columns;
  const FirstDifference& first = *miss->first;
  columns.token = number(first.token);
  columns.byte = number(first.byte);
  columns.place_estimated = first.estimated;
  columns.message = number(first.message);
  columns.role = number(first.role);
  columns.field = first.field;
  columns.tool = first.tool;
  if (!with_text) return columns;
  columns.old_text = first.old_text;
  columns.new_text = first.new_text;
  columns.old_at = static_cast<std::int64_t>(first.old_at);
  columns.new_at = static_cast<std::int64_t>(first.new_at);
  return columns;
}

std::optional<Explanation> to_explanation(const MissColumns& columns) {
  if (columns.cause.empty()) return std::nullopt;
  Explanation miss;
  miss.cause = cause_named(columns.cause).value_or(Cause::none);
  miss.title = columns.title;
  miss.detail = columns.detail;
  miss.remedy = columns.remedy;
  miss.tokens_lost = columns.tokens_lost;
  miss.estimated = columns.estimated;
  if (columns.lost_us >= 0) miss.seconds_lost = static_cast<double>(columns.lost_us) / 1e6;
  miss.kept_reply = columns.kept_reply;
  if (!columns.has_place) return miss;
  FirstDifference& first = miss.first.emplace();
  first.token = optional<Position>(columns.token);
  first.byte = optional<std::size_t>(columns.byte);
  first.estimated = columns.place_estimated;
  first.message = optional<std::size_t>(columns.message);
  first.role = optional<Role>(columns.role);
  first.field = columns.field;
  first.tool = columns.tool;
  first.old_text = columns.old_text;
  first.new_text = columns.new_text;
  first.old_at = static_cast<std::size_t>(columns.old_at);
  first.new_at = static_cast<std::size_t>(columns.new_at);
  return miss;
}

}  // namespace samovar
