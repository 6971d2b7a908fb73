#include "explain/word_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace samovar {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_alnum(char c) { return is_digit(c) || is_letter(c); }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

int small_number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

// `pattern`: 'd' a digit, anything else itself. Matches the beginning of `word`.
bool begins_as(std::string_view word, std::string_view pattern) {
  if (word.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == 'd' ? !is_digit(word[i]) : word[i] != pattern[i]) return false;
  }
  return true;
}

bool plausible_month_and_day(std::string_view month, std::string_view day) {
  const int m = small_number(month);
  const int d = small_number(day);
  return m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

// 2026-11-30, 2026/11/30, 2026.11.30, 20261130, with anything but a further digit behind.
bool year_first(std::string_view word) {
  for (const char mark : {'-', '/', '.'}) {
    const std::string pattern = {'d', 'd', 'd', 'd', mark, 'd', 'd', mark, 'd', 'd'};
    if (begins_as(word, pattern)) {
      return plausible_month_and_day(word.substr(5, 2), word.substr(8, 2));
    }
  }
  if (!begins_as(word, "dddddddd") || (word.size() > 8 && is_digit(word[8]))) return false;
  return (word.starts_with("19") || word.starts_with("20")) &&
         plausible_month_and_day(word.substr(4, 2), word.substr(6, 2));
}

// 30.11.2026, 11/30/26: with dots only where the year has four digits, or versions would match.
bool year_last(std::string_view word) {
  for (const char mark : {'/', '.', '-'}) {
    const std::size_t first = word.find(mark);
    if (first == std::string_view::npos || first > 2) continue;
    const std::size_t second = word.find(mark, first + 1);
    if (second == std::string_view::npos || second - first > 3) continue;
    const std::string_view year = word.substr(second + 1);
    if (!all_digits(word.substr(0, first)) ||
        !all_digits(word.substr(first + 1, second - first - 1)) || !all_digits(year)) {
      continue;
    }
    if (year.size() == 4 || (year.size() == 2 && mark == '/')) return true;
  }
  return false;
}

// 7:12, 07:12:57, 07:12:57.123Z, 07:12+01:00
bool is_clock(std::string_view word) {
  if (word.starts_with('T')) word.remove_prefix(1);
  const std::size_t hours = begins_as(word, "dd:dd") ? 2 : begins_as(word, "d:dd") ? 1 : 0;
  if (hours == 0) return false;
  const std::string_view minutes = word.substr(hours + 1, 2);
  if (small_number(word.substr(0, hours)) > 24 || small_number(minutes) > 59) return false;
  const std::string_view rest = word.substr(hours + 3);
  constexpr std::string_view kAfter = "0123456789:.,+-ZAPMapm";
  return rest.empty() ||
         (!is_digit(rest.front()) && rest.find_first_not_of(kAfter) == std::string_view::npos);
}

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// What stands behind the last '_' or '-', if that leaves something long enough to be random.
std::string_view body(std::string_view word) {
  for (const char mark : {'_', '-'}) {
    const std::size_t at = word.rfind(mark);
    if (at != std::string_view::npos && word.size() - at - 1 >= 8) return word.substr(at + 1);
  }
  return word;
}

bool is_ulid(std::string_view word) {
  return word.size() == 26 && word.front() <= '7' && is_digit(word.front()) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || is_upper(c); });
}

}  // namespace

bool is_uuid(std::string_view word) {
  if (word.size() != 36) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? word[i] != '-' : std::isxdigit(static_cast<unsigned char>(word[i])) == 0) {
      return false;
    }
  }
  return true;
}

bool is_hex(std::string_view word) {
  const auto lower_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  const auto upper_hex = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'F'); };
  return !word.empty() && (std::all_of(word.begin(), word.end(), lower_hex) ||
                           std::all_of(word.begin(), word.end(), upper_hex));
}

bool is_number(std::string_view word) {
  if (word.empty() || !is_digit(word.front()) || !is_digit(word.back())) return false;
  bool mark = false;
  for (const char c : word) {
    const bool is_mark = c == '.' || c == ',';
    if ((!is_mark && !is_digit(c)) || (is_mark && mark)) return false;
    mark = is_mark;
  }
  return true;
}

bool is_unique_id(std::string_view word) {
  if (is_uuid(word)) return true;
  const std::string_view random = body(word);
  if (is_ulid(random)) return true;
  if (random.size() < 8) return false;
  std::size_t digits = 0;
  std::size_t changes = 0;  // between digits, small and capital letters
  const auto kind = [](char c) { return is_digit(c) ? 0 : is_upper(c) ? 1 : 2; };
  for (std::size_t i = 0; i < random.size(); ++i) {
    if (!is_alnum(random[i]) && random[i] != '-' && random[i] != '_') return false;
    digits += is_digit(random[i]) ? 1 : 0;
    if (i > 0) changes += kind(random[i]) != kind(random[i - 1]) ? 1 : 0;
  }
  return digits < random.size() && changes >= 4;
}

bool is_time_or_date(std::string_view word) {
  return year_first(word) || year_last(word) || is_clock(word) ||
         (is_calendar_word(word) && lower(word) != "may" && lower(word) != "sun");
}

bool is_epoch(std::string_view word) {
  if (!all_digits(word) || (word.size() != 10 && word.size() != 13)) return false;
  const std::string_view seconds = word.substr(0, 10);
  return seconds >= "1000000000" && seconds <= "3155760000";
}

bool is_calendar_word(std::string_view word) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "january",   "february",  "march",   "april",    "may",      "june",   "july",
      "august",    "september", "october", "november", "december", "monday", "tuesday",
      "wednesday", "thursday",  "friday",  "saturday", "sunday"};
  static constexpr std::array<std::string_view, 8> kMarks = {"am",   "pm",   "utc",  "gmt",
                                                             "a.m.", "p.m.", "sept", "o'clock"};
  const std::string small = lower(word);
  if (small.size() < 2) return false;
  const auto names = [&](std::string_view name) {
    return small == name || (small.size() == 3 && name.starts_with(small));
  };
  return std::any_of(kNames.begin(), kNames.end(), names) ||
         std::find(kMarks.begin(), kMarks.end(), small) != kMarks.end();
}

}  // namespace samovar
