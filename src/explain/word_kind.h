// What a word of a prompt looks like: an id, a point in time, a hash, a number. Guesses from form
// alone, good enough to name a cause to a person. Pure functions; any thread; nothing fails.
#pragma once

#include <string_view>

namespace samovar {

[[nodiscard]] bool is_uuid(std::string_view word);
[[nodiscard]] bool is_hex(std::string_view word);     // not empty; digits and a-f of one case
[[nodiscard]] bool is_number(std::string_view word);  // digits, with "." and "," between them

// UUID, ULID, nanoid and the like, also behind a prefix ("call_", "req-"). Not plain hex.
[[nodiscard]] bool is_unique_id(std::string_view word);

// 2026-11-30, 30.11.2026, 11/30/26, 20261130, with or without a time; 07:12, 07:12:57.5Z; Monday,
// Nov; AM.
[[nodiscard]] bool is_time_or_date(std::string_view word);

// Seconds or milliseconds since 1970, between 2001 and 2070.
[[nodiscard]] bool is_epoch(std::string_view word);

// A word that makes a number beside it a part of a date or time: names of months and days, "AM",
// "UTC".
[[nodiscard]] bool is_calendar_word(std::string_view word);

}  // namespace samovar
