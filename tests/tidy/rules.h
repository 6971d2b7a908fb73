// The rules of the code base that a machine can hold. Each looks at one file and returns what is
// wrong with it, as "path:line: what. What to do instead". Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace samovar::tidy {

using Findings = std::vector<std::string>;

// src/ is layered: a folder includes only what the table in rules.cc puts below it.
[[nodiscard]] Findings check_layers(const Source& source);
// A third-party library is known to few folders.
[[nodiscard]] Findings check_libraries(const Source& source);
// Calls with a better replacement here.
[[nodiscard]] Findings check_banned(const Source& source);
// At most 600 lines of code in a file, 800 of tests.
[[nodiscard]] Findings check_file_size(const Source& source);
// At most 100 characters in a line of C++.
[[nodiscard]] Findings check_columns(const Source& source);
// At most 70 lines in a function (tests excepted).
[[nodiscard]] Findings check_functions(const Source& source);
// A header starts with what it is for, and has #pragma once.
[[nodiscard]] Findings check_header(const Source& source);
// Nothing is left for later in the code: open work lives in the issue tracker.
[[nodiscard]] Findings check_leftovers(const Source& source);
// A Markdown page has exactly one title.
[[nodiscard]] Findings check_markdown(const Source& source);

}  // namespace samovar::tidy
