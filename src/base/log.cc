#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace samovar {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

// Made on first use and never destroyed: a thread that outlives main may still log.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made =
        new spdlog::logger("samovar", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%-7l%$ %v");
    made->set_level(spdlog::level::info);
    return made;
  }();
  return *instance;
}

}  // namespace

void log_set_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

bool log_enabled(LogLevel level) { return logger().should_log(to_spdlog(level)); }

void log_write(LogLevel level, std::string_view line) { logger().log(to_spdlog(level), line); }

}  // namespace samovar
