#include "bench/measurement.h"

#include <array>

namespace samovar::bench {
namespace {

constexpr std::array<const char*, kSteps> kNames = {"cold",         "decode",       "resident",
                                                    "restart_warm", "restart_cold", "side",
                                                    "edit",         "sessions",     "write"};

}  // namespace

const char* to_string(Step step) { return kNames.at(static_cast<std::size_t>(step)); }

std::optional<Step> step_of(const std::string& name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<Step>(i);
  }
  return std::nullopt;
}

Measurement measurement_of(const Answer& answer) {
  Measurement measured;
  if (!answer.ok()) {
    measured.missing = "failed: " + answer.error->message;
    return measured;
  }
  measured.first_ms = answer.first_ms();
  measured.total_ms = answer.total_ms();
  measured.decode_per_second = answer.decode_per_second();
  measured.prompt_tokens = answer.figures.prompt_tokens;
  measured.reused_tokens = answer.figures.reused_tokens;
  measured.computed_tokens = answer.figures.computed_tokens;
  if (!measured.computed_tokens && measured.prompt_tokens && measured.reused_tokens) {
    measured.computed_tokens = *measured.prompt_tokens - *measured.reused_tokens;
  }
  measured.reply_tokens = answer.figures.reply_tokens;
  measured.pieces = static_cast<std::int64_t>(answer.pieces.size());
  measured.source = answer.source;
  measured.server = answer.timings;
  return measured;
}

}  // namespace samovar::bench
