#include "client/figures_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "client/text.h"

namespace samovar::client {
namespace {

std::string rate(double per_second) {
  return fmt::format("{:.{}f} tok/s", per_second, per_second < 100 ? 1 : 0);
}

std::string with_rate(std::string text, std::optional<double> ms,
                      std::optional<double> per_second) {
  if (ms) text += " in " + short_time(*ms / 1000);
  if (per_second) text += " (" + rate(*per_second) + ")";
  return text;
}

std::string tokens(std::int64_t count) {
  return grouped(count) + (count == 1 ? " token" : " tokens");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : " · ") + part;
  return line;
}

}  // namespace

std::string figures_line(const TurnFigures& figures, const Measured& measured) {
  std::vector<std::string> parts;
  if (figures.computed_tokens) {
    if (figures.reused_tokens) parts.push_back("reused " + grouped(*figures.reused_tokens));
    parts.push_back(with_rate("computed " + grouped(*figures.computed_tokens), figures.prefill_ms,
                              figures.prefill_per_second));
  } else if (figures.prompt_tokens) {
    std::string prompt = "prompt " + tokens(*figures.prompt_tokens);
    if (figures.reused_tokens) prompt += ", " + grouped(*figures.reused_tokens) + " of them cached";
    parts.push_back(std::move(prompt));
  }
  if (figures.first_token_ms) {
    parts.push_back("first token " + short_time(*figures.first_token_ms / 1000));
  } else if (measured.first_text_ms) {
    parts.push_back("first text " + short_time(*measured.first_text_ms / 1000) +
                    " (measured here)");
  }
  if (figures.reply_tokens) {
    parts.push_back(with_rate("reply " + tokens(*figures.reply_tokens), figures.decode_ms,
                              figures.decode_per_second));
  }
  if (figures.empty()) {
    parts.push_back("in all " + short_time(measured.total_ms / 1000));
    parts.emplace_back("the server gave no figures");
  }
  return joined(parts);
}

std::string progress_line(const PromptProgress& progress, int columns) {
  const std::int64_t total = std::max<std::int64_t>(progress.total, 1);
  const std::int64_t done = std::clamp<std::int64_t>(progress.done, 0, total);
  const std::int64_t reused = std::clamp<std::int64_t>(progress.reused, 0, done);
  std::string words = fmt::format("prompt {} / {}", grouped(done), grouped(total));
  if (reused > 0) words += fmt::format(" · {} reused", grouped(reused));
  if (progress.ms > 0 && done > reused) {
    const double per_second = static_cast<double>(done - reused) * 1000 / progress.ms;
    words += " · " + rate(per_second);
    if (done < total) {
      words +=
          " · " + short_time(std::ceil(static_cast<double>(total - done) / per_second)) + " left";
    }
  }
  const int room = std::min(30, columns - width_of(words) - 1);
  if (room < 5) return one_line(words, columns);
  const auto cells = [&](std::int64_t part) { return static_cast<int>(part * room / total); };
  std::string bar;
  for (int i = 0; i < room; ++i) bar += i < cells(reused) ? "▓" : i < cells(done) ? "█" : "░";
  return bar + " " + words;
}

std::string waiting_line(double seconds, int tick) {
  static constexpr std::array<const char*, 10> kFrames = {"⠋", "⠙", "⠹", "⠸", "⠼",
                                                          "⠴", "⠦", "⠧", "⠇", "⠏"};
  return fmt::format("{} waiting for the first word, {}",
                     kFrames[static_cast<std::size_t>(tick) % kFrames.size()],
                     short_time(std::floor(seconds)));
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string short_time(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds == std::floor(seconds) && seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string age_text(std::int64_t seconds) {
  const auto ago = [](std::int64_t count, const char* one) {
    return fmt::format("{} {}{} ago", count, one, count == 1 || one[1] == 'i' ? "" : "s");
  };
  if (seconds < 60) return "just now";
  if (seconds < 3600) return ago(seconds / 60, "min");
  if (seconds < 86400) return ago(seconds / 3600, "hour");
  return ago(seconds / 86400, "day");
}

}  // namespace samovar::client
