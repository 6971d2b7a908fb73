#include "base/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size_text.h"

namespace samovar {
namespace {

constexpr Micros kBarEvery = kSecond / 5;
constexpr Micros kLineEvery = 10 * kSecond;
constexpr Micros kMarkEvery = kSecond / 5;
constexpr int kBarMost = 30;
constexpr int kBarLeast = 5;

}  // namespace

ProgressStyle download_progress() {
  return {.amount = format_bytes, .verb = "downloading", .rate = true};
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string ProgressText::figures(const Progress& progress, double share, bool whole) const {
  std::string text = fmt::format("{:3}%  {} of {}", static_cast<int>(std::min(share, 1.0) * 100.0),
                                 style_.amount(progress.done), style_.amount(progress.total));
  const double speed = whole ? 0 : rate();
  if (speed <= 0) return text;
  if (style_.rate) text += fmt::format("  {}/s", style_.amount(static_cast<std::uint64_t>(speed)));
  return text +
         fmt::format("  {} left",
                     clock_text(static_cast<double>(progress.total - progress.done) / speed));
}

double ProgressText::rate() const {
  if (marks_.size() < 2) return 0;
  const Mark& first = marks_.front();
  const Mark& last = marks_.back();
  if (last.at - first.at < kSecond / 2 || last.done <= first.done) return 0;
  return static_cast<double>(last.done - first.done) * static_cast<double>(kSecond) /
         static_cast<double>(last.at - first.at);
}

std::optional<std::string> ProgressText::next(const Progress& progress, Micros now, int columns) {
  // What was there already came at no rate.
  if (!marks_.empty() && progress.done < marks_.back().done) marks_.clear();
  if (marks_.empty() || now - marks_.back().at >= kMarkEvery)
    marks_.push_back({now, progress.done});
  while (now - marks_.front().at > style_.window && marks_.size() > 2) marks_.pop_front();
  const bool whole = progress.done >= progress.total;
  if (whole && complete_) return std::nullopt;
  const Micros every = terminal_ ? kBarEvery : kLineEvery;
  if (!whole && shown_ && now - *shown_ < every) return std::nullopt;
  if (!terminal_ && !shown_ && !whole) {
    shown_ = now;
    return fmt::format("{} {}: {} of {}", style_.verb, progress.name, style_.amount(progress.done),
                       style_.amount(progress.total));
  }
  shown_ = now;
  complete_ = whole;
  const double share = progress.total == 0 ? 1.0
                                           : static_cast<double>(progress.done) /
                                                 static_cast<double>(progress.total);
  const std::string words = figures(progress, share, whole);
  if (!terminal_) return fmt::format("{}: {}", progress.name, words);
  const int room = columns - 1 - static_cast<int>(words.size()) - 5;
  if (room < kBarLeast) return words.substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
  const int width = std::min(room, kBarMost);
  const auto filled = static_cast<std::size_t>(std::min(share, 1.0) * width);
  std::string bar = "[" + std::string(filled, '#') +
                    std::string(static_cast<std::size_t>(width) - filled, '.') + "]  " + words;
  const int name_room = columns - 1 - static_cast<int>(bar.size()) - 2;
  if (static_cast<int>(progress.name.size()) <= name_room) bar = progress.name + "  " + bar;
  return bar;
}

}  // namespace samovar
