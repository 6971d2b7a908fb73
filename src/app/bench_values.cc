#include "app/bench_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace samovar::app {
namespace {

using bench::Step;

std::unexpected<Error> refuse(std::string message, std::string flag, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(flag), std::move(remedy));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

// "30k" or "512".
std::optional<std::int64_t> count_of(std::string text) {
  std::int64_t times = 1;
  if (text.ends_with('k') || text.ends_with('K')) {
    times = 1000;
    text.pop_back();
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value * times;
}

}  // namespace

Status read_depths(const std::string& text, std::vector<std::int64_t>& depths) {
  for (const std::string& part : split(text)) {
    const auto depth = count_of(part);
    if (!depth || *depth < 128 || *depth > 10'000'000) {
      return refuse(fmt::format("\"{}\" is no length of context", part), "--depth",
                    "give tokens, at least 128: --depth 6k,30k,100k");
    }
    depths.push_back(*depth);
  }
  std::ranges::sort(depths);
  depths.erase(std::ranges::unique(depths).begin(), depths.end());
  return {};
}

Status read_rounds(const std::string& text, const char* flag, std::vector<int>& rounds) {
  if (text.empty()) return {};
  rounds.clear();
  for (const std::string& part : split(text)) {
    const auto count = count_of(part);
    if (!count || *count > 10000) {
      return refuse(fmt::format("\"{}\" is no count of rounds", part), flag,
                    fmt::format("give one a depth: {} 5,3,1", flag));
    }
    rounds.push_back(static_cast<int>(*count));
  }
  return {};
}

Status read_steps(const std::string& text, const std::vector<Step>& possible,
                  std::vector<Step>& steps) {
  steps = possible;
  if (text.empty()) return {};
  steps.clear();
  for (const std::string& part : split(text)) {
    const auto step = bench::step_of(part);
    if (!step || std::ranges::find(possible, *step) == possible.end()) {
      return refuse(fmt::format("\"{}\" is no step of this command", part), "--steps",
                    "its help lists them");
    }
    steps.push_back(*step);
  }
  return {};
}

Status read_notes(const std::vector<std::string>& words, bench::Facts& notes) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return refuse(fmt::format("\"{}\" has no name", word), "--note", "write --note NAME=TEXT");
    }
    notes.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return {};
}

}  // namespace samovar::app
