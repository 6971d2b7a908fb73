#include "bench/step_text.h"

#include <fmt/format.h>

#include <cmath>

namespace samovar::bench {
namespace {

// Three digits that matter.
std::string digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

const char* step_title(Step step) {
  switch (step) {
    case Step::cold:
      return "cold prefill";
    case Step::decode:
      return "decode";
    case Step::resident:
      return "follow-up, resident";
    case Step::restart_warm:
      return "follow-up after a restart, files in the page cache";
    case Step::restart_cold:
      return "follow-up after a restart, files not in the page cache";
    case Step::side:
      return "follow-up after a side request";
    case Step::edit:
      return "edit in the middle";
    case Step::sessions:
      return "sessions in turn";
    case Step::write:
      return "bytes written";
  }
  return "";
}

const char* step_about(Step step) {
  switch (step) {
    case Step::cold:
      return "A conversation that the server has never seen, to the first piece of its reply.";
    case Step::decode:
      return "Tokens of a reply after its first piece, over the time from the first piece to the "
             "last. No prefill is in it.";
    case Step::resident:
      return "The next question of a conversation that the server has just answered in, to the "
             "first piece.";
    case Step::restart_warm:
      return "The server is ended in order and started again; when it is ready, the next question "
             "comes. The time is that question's, to the first piece.";
    case Step::restart_cold:
      return "The same, after the store's files were dropped from the page cache, so that they "
             "come "
             "from the disk.";
    case Step::side:
      return "Another, unrelated request comes in between; then the next question, to the first "
             "piece.";
    case Step::edit:
      return "A message in the middle of the conversation gets another text, and a question "
             "follows. Half of the conversation is new, to the first piece.";
    case Step::sessions:
      return "Several conversations in turn, one question each, to the first piece.";
    case Step::write:
      return "Bytes that a turn added to the store's folder until it was at rest again.";
  }
  return "";
}

std::string tokens_text(std::int64_t tokens) {
  if (tokens < 1000) return fmt::format("{}", tokens);
  if (tokens % 1000 == 0) return fmt::format("{}k", tokens / 1000);
  return fmt::format("{:.1f}k", static_cast<double>(tokens) / 1000);
}

std::string ms_text(double ms) {
  if (ms >= 1999.5) return digits(ms / 1000) + " s";
  return digits(ms) + " ms";
}

std::string rate_text(double per_second) { return digits(per_second); }

std::string ratio_text(double ratio) {
  if (ratio > 0 && ratio < 0.095) return fmt::format("{:.3f}", ratio);
  return fmt::format("{:.2f}", ratio);
}

}  // namespace samovar::bench
