#include "engine/llama_log.h"

#include <llama.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"

namespace samovar {
namespace {

LogLevel to_level(ggml_log_level level) {
  switch (level) {
    case GGML_LOG_LEVEL_ERROR:
      return LogLevel::error;
    case GGML_LOG_LEVEL_WARN:
      return LogLevel::warning;
    default:
      return LogLevel::debug;
  }
}

// What libllama reports as trouble although it is expected here: a full memory is answered by the
// caller (Engine's no_cells), and the others are choices of ours: cells beyond the trained context
// are for several conversations together.
bool is_expected(std::string_view line) {
  constexpr std::array expected = {
      std::string_view("failed to find a memory slot"),
      std::string_view("failed to prepare attention ubatches"),
      std::string_view("using full-size SWA cache"),
      std::string_view("does not match expectation"),
      std::string_view("possible training context overflow"),
  };
  return std::ranges::any_of(
      expected, [&](std::string_view part) { return line.find(part) != std::string_view::npos; });
}

// libllama writes lines in pieces, the later ones with level CONT: join them until the newline.
class LineJoiner {
 public:
  void add(ggml_log_level level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (level != GGML_LOG_LEVEL_CONT) {
      level_ = to_level(level);
    }
    if (!log_enabled(level_)) {
      line_.clear();
      return;
    }
    for (const char c : text) {
      if (c == '\n') {
        log_at(is_expected(line_) ? LogLevel::debug : level_, "llama: {}", line_);
        line_.clear();
      } else {
        line_.push_back(c);
      }
    }
  }

 private:
  std::mutex mutex_;
  LogLevel level_ = LogLevel::debug;
  std::string line_;
};

void on_llama_log(ggml_log_level level, const char* text, void* joiner) {
  static_cast<LineJoiner*>(joiner)->add(level, text);
}

}  // namespace

void route_llama_log() {
  static auto* const joiner = new LineJoiner;  // never destroyed: compute threads may outlive main
  llama_log_set(on_llama_log, joiner);
}

}  // namespace samovar
