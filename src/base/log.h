// Logging: one line to stderr, with time and level. Everybody logs through these four functions;
// spdlog is included by log.cc only, so it can be replaced there.
// Thread-safe. Never fails: a line that cannot be written is lost.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace samovar {

enum class LogLevel { debug, info, warning, error, off };

void log_set_level(LogLevel level);  // default: info
[[nodiscard]] bool log_enabled(LogLevel level);
void log_write(LogLevel level, std::string_view line);

// Formats only if the level is enabled.
template <class... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) {
    log_write(level, fmt::format(format, std::forward<Args>(args)...));
  }
}

template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::debug, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::info, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::warning, format, std::forward<Args>(args)...);
}

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::error, format, std::forward<Args>(args)...);
}

}  // namespace samovar
