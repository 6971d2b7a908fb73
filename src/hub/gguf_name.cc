#include "hub/gguf_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace samovar::hub {
namespace {

constexpr std::string_view kEnding = ".gguf";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return out;
}

std::string_view last_segment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::optional<int> number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Q4_K_M, IQ2_XXS, TQ1_0, MXFP4_MOE, F16, BF16: upper case, without separators.
bool is_quant_word(std::string_view word) {
  static constexpr std::array<std::string_view, 4> floats = {"F16", "BF16", "F32", "F64"};
  if (std::ranges::find(floats, word) != floats.end()) return true;
  if (word.starts_with("MXFP4") || word.starts_with("NVFP4")) return true;
  if (word.starts_with('I') || word.starts_with('T')) word.remove_prefix(1);
  return word.size() >= 2 && word[0] == 'Q' && is_digit(word[1]) &&
         (word.size() == 2 || word[2] == '_' || is_digit(word[2]));
}

}  // namespace

std::string SplitName::path_of(int which) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, which, parts);
}

std::optional<SplitName> parse_split(std::string_view path) {
  constexpr std::string_view kShape = "-00000-of-00000.gguf";
  if (path.size() <= kShape.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kShape.size());
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '0' ? !is_digit(tail[i]) : kShape[i] != tail[i]) return std::nullopt;
  }
  const auto part = number(tail.substr(1, 5));
  const auto parts = number(tail.substr(10, 5));
  if (!part || !parts || *part < 1 || *part > *parts) return std::nullopt;
  return SplitName{std::string(path.substr(0, path.size() - kShape.size())), *part, *parts};
}

std::string stem_of(std::string_view path) {
  const auto split = parse_split(path);
  std::string_view name = last_segment(split ? std::string_view(split->prefix) : path);
  if (!split && upper(name).ends_with(".GGUF")) name.remove_suffix(kEnding.size());
  return std::string(name);
}

bool is_model_file(std::string_view path) {
  const std::string name = upper(last_segment(path));
  return name.ends_with(".GGUF") && name.size() > kEnding.size() &&
         name.find("MMPROJ") == std::string::npos && name.find("IMATRIX") == std::string::npos &&
         !name.starts_with("MTP-");
}

std::string quant_of(std::string_view path) {
  const std::string stem = upper(stem_of(path));
  std::size_t end = stem.size();
  while (end > 0) {
    std::size_t begin = end;
    while (begin > 0 && is_word(stem[begin - 1])) --begin;
    const std::string_view word = std::string_view(stem).substr(begin, end - begin);
    if (is_quant_word(word)) {
      const bool dynamic = std::string_view(stem).substr(0, begin).ends_with("UD-");
      return (dynamic ? "UD-" : "") + std::string(word);
    }
    end = begin > 0 ? begin - 1 : 0;
  }
  return {};
}

bool has_quant(std::string_view path, std::string_view quant) {
  const std::string stem = upper(stem_of(path));
  const std::string wanted = upper(quant);
  for (std::size_t at = stem.find(wanted); at != std::string::npos;
       at = stem.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    const bool begins = at == 0 || !is_word(stem[at - 1]);
    if (begins && (end == stem.size() || !is_word(stem[end]))) return true;
  }
  return false;
}

}  // namespace samovar::hub
