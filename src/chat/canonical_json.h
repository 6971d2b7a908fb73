// One spelling for every way to write the same JSON value, to compare tool arguments by meaning:
// keys in the order of their bytes, strings unescaped, numbers by value. Integers keep all their
// digits; fractions are the nearest double, as every reader of JSON takes them.
// Pure functions; any thread. Nothing but its equality means anything: the result is not JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace samovar {

// nullopt for what is not exactly one JSON value, nests deeper than 64, has one key twice in an
// object, or half of a surrogate pair: readers disagree about the meaning of those.
std::optional<std::string> canonical_json(std::string_view text);

// Never equal for different meanings: text without a canonical form is equal to itself only. No
// text at all means no arguments, as "{}" does.
std::string canonical_arguments(std::string_view text);

}  // namespace samovar
