// What kind of change made one text of another: looked at is the word in which they first differ,
// with its neighbours. Pure functions over bytes that are usually, but not necessarily, UTF-8; any
// thread; nothing fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samovar {

enum class TextChange { none, whitespace, unique_id, time_or_date, counter_or_hash, edited };

[[nodiscard]] TextChange classify_change(std::string_view before, std::string_view after);

[[nodiscard]] std::size_t common_prefix(std::string_view a, std::string_view b);

// Of what follows the first `from` bytes of both.
[[nodiscard]] std::size_t common_suffix(std::string_view a, std::string_view b, std::size_t from);

// Both texts around their first difference: about 60 characters each side, cut between characters.
// "…" stands for what was cut off.
struct Excerpts {
  std::string old_text;
  std::string new_text;
  std::size_t old_at = 0;  // byte of old_text at which the difference begins
  std::size_t new_at = 0;
};
[[nodiscard]] Excerpts excerpts(std::string_view before, std::string_view after);

}  // namespace samovar
