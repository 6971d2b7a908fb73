// Values of `samovar bench`'s options that CLI11 does not read by itself. Pure; any thread. Errors
// name the flag and the remedy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/measurement.h"
#include "bench/report.h"

namespace samovar::app {

// "1k,30k": tokens, sorted, each once.
[[nodiscard]] Status read_depths(const std::string& text, std::vector<std::int64_t>& depths);

// "5,3,1"; empty: leaves `rounds` as they are.
[[nodiscard]] Status read_rounds(const std::string& text, const char* flag,
                                 std::vector<int>& rounds);

// "cold,decode", all of them possible ones; empty: all possible ones.
[[nodiscard]] Status read_steps(const std::string& text, const std::vector<bench::Step>& possible,
                                std::vector<bench::Step>& steps);

// "name=text"
[[nodiscard]] Status read_notes(const std::vector<std::string>& words, bench::Facts& notes);

}  // namespace samovar::app
