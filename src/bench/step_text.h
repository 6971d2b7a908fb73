// Steps and sizes in words, the same in every output. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "bench/measurement.h"

namespace samovar::bench {

[[nodiscard]] const char* step_title(Step step);  // "follow-up, resident"
[[nodiscard]] const char* step_about(Step step);  // one sentence: what was done, what the time is

[[nodiscard]] std::string tokens_text(std::int64_t tokens);  // "30k", "1.5k", "512"
[[nodiscard]] std::string ms_text(double ms);                // "0.45 ms", "137 ms", "36.1 s"
[[nodiscard]] std::string rate_text(double per_second);      // "46.2", "1,350"
[[nodiscard]] std::string ratio_text(double ratio);          // "0.49", "0.0052"

}  // namespace samovar::bench
