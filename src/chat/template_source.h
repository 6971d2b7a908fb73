// A chat template may print the current time. A time of day would change the prompt's first tokens
// with every request, so it is frozen at midnight: only the date is left. The prompt of the same
// messages is then the same all day; where a template prints the date, its prefix breaks once, at
// local midnight. Pure functions.
#pragma once

#include <string>

namespace samovar {

// `source` with the time-of-day directives inside strftime_now("...") replaced by midnight's.
std::string freeze_time_of_day(const std::string& source);

// Today in the local time zone, as strftime formats it: what a rendered date depends on.
std::string local_date(const char* format = "%Y-%m-%d");

}  // namespace samovar
