#include "api/query.h"

#include <fmt/format.h>

#include <charconv>

namespace samovar {
namespace {

// "%41+b" -> "A b". A percent sign that begins no code stands for itself.
std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded += ' ';
      continue;
    }
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size() + 0U) {
      const char* begin = text.data() + i + 1;
      const auto [end, error] = std::from_chars(begin, begin + 2, code, 16);
      if (error == std::errc() && end == begin + 2) {
        decoded += static_cast<char>(code);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

}  // namespace

Query::Query(std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    parts_.emplace_back(decode(part.substr(0, equals)), decode(value));
  }
}

std::optional<std::string> Query::find(std::string_view name) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    if (part->first == name) return part->second;
  }
  return std::nullopt;
}

Result<std::int64_t> Query::integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                                    std::int64_t max) const {
  const auto text = find(name);
  if (!text) return fallback;
  std::int64_t value = 0;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc() || end != last || value < min || value > max) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("'{}' is \"{}\", not a whole number from {} to {}", name, *text, min, max),
        std::string(name), "leave it out, or send a number in that range");
  }
  return value;
}

}  // namespace samovar
