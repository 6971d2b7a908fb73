#include "explain/text_change.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "explain/word_kind.h"

namespace samovar {
namespace {

constexpr std::size_t kExcerptCharacters = 60;
constexpr std::string_view kEllipsis = "…";

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

bool ends_word(char c) {
  constexpr std::string_view kEnds = "\"'`<>()[]{}|;=,";
  return is_space(c) || kEnds.find(c) != std::string_view::npos;
}

bool same_but_for_space(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (true) {
    while (i < a.size() && is_space(a[i])) ++i;
    while (j < b.size() && is_space(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

std::string_view trimmed(std::string_view word) {
  constexpr std::string_view kMarks = ".:!?*#";
  while (!word.empty() && kMarks.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  while (!word.empty() && kMarks.find(word.front()) != std::string_view::npos) {
    word.remove_prefix(1);
  }
  return word;
}

struct Word {
  std::string_view text;
  std::string_view previous;  // the words beside it
  std::string_view next;
  std::string_view before;  // some text before it, for hints
};

Word word_at(std::string_view text, std::size_t at) {
  const auto end_from = [&](std::size_t from) {
    while (from < text.size() && !ends_word(text[from])) ++from;
    return from;
  };
  const auto begin_from = [&](std::size_t from) {
    while (from > 0 && !ends_word(text[from - 1])) --from;
    return from;
  };
  const std::size_t begin = begin_from(at);
  const std::size_t end = end_from(at);
  std::size_t left = begin;
  while (left > 0 && ends_word(text[left - 1])) --left;
  std::size_t right = end;
  while (right < text.size() && ends_word(text[right])) ++right;
  const std::size_t left_begin = begin_from(left);
  const std::size_t hint = begin > 24 ? begin - 24 : 0;
  return {trimmed(text.substr(begin, end - begin)),
          trimmed(text.substr(left_begin, left - left_begin)),
          trimmed(text.substr(right, end_from(right) - right)), text.substr(hint, begin - hint)};
}

// True if one of `hints` stands in the text before the word, or in the word's own beginning.
template <std::size_t N>
bool hinted(const Word& word, const std::array<std::string_view, N>& hints) {
  std::string text(word.before);
  text += word.text.substr(0, word.text.find_first_of(":/-_"));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(hints.begin(), hints.end(),
                     [&](std::string_view hint) { return text.find(hint) != std::string::npos; });
}

// What the two words do not share, widened to whole runs of letters and digits.
std::pair<std::string_view, std::string_view> differing_runs(std::string_view a,
                                                             std::string_view b) {
  const auto in_run = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = common_prefix(a, b);
  while (begin > 0 && in_run(a[begin - 1])) --begin;
  std::size_t tail = common_suffix(a, b, begin);
  while (tail > 0 && in_run(a[a.size() - tail])) --tail;
  return {a.substr(begin, a.size() - tail - begin), b.substr(begin, b.size() - tail - begin)};
}

// "12.5s" -> "12.5": what both words have behind their numbers, or before them, does not count.
bool numbers(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t begin = common_prefix(a, b);
  while (begin > 0 && (digit(a[begin - 1]) || a[begin - 1] == '.' || a[begin - 1] == ',')) --begin;
  std::size_t tail = common_suffix(a, b, begin);
  while (tail > 0 && digit(a[a.size() - tail])) --tail;
  const std::string_view x = trimmed(a.substr(begin, a.size() - tail - begin));
  const std::string_view y = trimmed(b.substr(begin, b.size() - tail - begin));
  return is_number(x) && is_number(y);
}

// `least`: shorter words may be anything.
bool hex_pair(std::string_view a, std::string_view b, std::size_t least) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto both = [&](std::string_view word) {
    return word.size() >= 16 || std::any_of(word.begin(), word.end(), digit);
  };
  const auto letter = [&](std::string_view word) {
    return std::any_of(word.begin(), word.end(), [&](char c) { return !digit(c); });
  };
  return a.size() == b.size() && a.size() >= least && is_hex(a) && is_hex(b) && both(a) &&
         both(b) && (letter(a) || letter(b));
}

TextChange classify_hex(const Word& word, std::size_t size) {
  static constexpr std::array<std::string_view, 10> kHashes = {
      "hash", "sha", "commit", "digest", "checksum", "md5", "etag", "rev", "head", "cch"};
  static constexpr std::array<std::string_view, 9> kIds = {
      "uuid", "session", "request", "trace", "nonce", "span", "run", "_id", " id"};
  if (hinted(word, kHashes)) return TextChange::counter_or_hash;
  if (hinted(word, kIds) || size == 32) return TextChange::unique_id;
  const bool known_size = size <= 12 || size == 40 || size == 56 || size == 64 || size == 128;
  return known_size ? TextChange::counter_or_hash : TextChange::unique_id;
}

TextChange classify_words(const Word& a, const Word& b) {
  const std::string_view x = a.text;
  const std::string_view y = b.text;
  if (x.empty() || y.empty() || x == y) return TextChange::edited;  // something came or went
  if (is_uuid(x) && is_uuid(y)) return TextChange::unique_id;
  if (is_time_or_date(x) && is_time_or_date(y)) return TextChange::time_or_date;
  if (is_epoch(x) && is_epoch(y)) return TextChange::time_or_date;
  const auto [run_x, run_y] = differing_runs(x, y);
  if (hex_pair(run_x, run_y, 5)) return classify_hex(b, run_x.size());
  // A build's part of a version: 2.1.101.e51.
  const std::size_t shared = common_prefix(x, y);
  const std::size_t dot = x.substr(0, shared).rfind('.');
  const bool version = dot != std::string_view::npos && is_number(x.substr(0, dot));
  if (version && hex_pair(run_x, run_y, 3)) return TextChange::counter_or_hash;
  if (is_unique_id(x) && is_unique_id(y)) return TextChange::unique_id;
  if (numbers(x, y)) {
    const bool dated = is_calendar_word(b.previous) || is_calendar_word(b.next);
    return dated || (is_epoch(run_x) && is_epoch(run_y)) ? TextChange::time_or_date
                                                         : TextChange::counter_or_hash;
  }
  return TextChange::edited;
}

// Cuts `text` to what surrounds `at`; tells where `at` is in the result.
std::string cut_around(std::string_view text, std::size_t at, std::size_t& at_in_result) {
  std::size_t begin = at;
  for (std::size_t n = 0; n < kExcerptCharacters && begin > 0; ++n) {
    --begin;
    while (begin > 0 && continues_character(text[begin])) --begin;
  }
  std::size_t end = at;
  for (std::size_t n = 0; n < kExcerptCharacters && end < text.size(); ++n) {
    ++end;
    while (end < text.size() && continues_character(text[end])) ++end;
  }
  std::string result;
  if (begin > 0) result += kEllipsis;
  at_in_result = result.size() + (at - begin);
  result += text.substr(begin, end - begin);
  if (end < text.size()) result += kEllipsis;
  return result;
}

}  // namespace

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin()).first -
      a.begin());
}

std::size_t common_suffix(std::string_view a, std::string_view b, std::size_t from) {
  const std::size_t most = std::min(a.size(), b.size()) - from;
  std::size_t size = 0;
  while (size < most && a[a.size() - size - 1] == b[b.size() - size - 1]) ++size;
  return size;
}

TextChange classify_change(std::string_view before, std::string_view after) {
  if (before == after) return TextChange::none;
  if (same_but_for_space(before, after)) return TextChange::whitespace;
  const std::size_t at = common_prefix(before, after);
  return classify_words(word_at(before, at), word_at(after, at));
}

Excerpts excerpts(std::string_view before, std::string_view after) {
  std::size_t at = common_prefix(before, after);
  const auto inside = [](std::string_view text, std::size_t place) {
    return place < text.size() && continues_character(text[place]);
  };
  // Back to the beginning of a character, three bytes at most: other bytes are no UTF-8.
  for (int step = 0; step < 3 && at > 0 && (inside(before, at) || inside(after, at)); ++step) --at;
  Excerpts result;
  result.old_text = cut_around(before, at, result.old_at);
  result.new_text = cut_around(after, at, result.new_at);
  return result;
}

}  // namespace samovar
