// A strict reader (RFC 8259) that writes the canonical form as it goes. Lengths stand before
// strings, so that no text can imitate structure.
#include "chat/canonical_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace samovar {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // False if the text is not exactly one value.
  bool read_all(std::string& out) {
    if (!value(out, 0)) return false;
    skip_space();
    return at_ == text_.size();
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word, std::string& out) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    out += word.front();
    return true;
  }

  bool value(std::string& out, std::size_t depth) {
    if (depth > limits::json_depth_max) return false;
    skip_space();
    switch (peek()) {
      case '{':
        return object(out, depth);
      case '[':
        return array(out, depth);
      case '"':
        return string(out);
      case 't':
        return take_word("true", out);
      case 'f':
        return take_word("false", out);
      case 'n':
        return take_word("null", out);
      default:
        return number(out);
    }
  }

  bool object(std::string& out, std::size_t depth) {
    ++at_;
    std::vector<std::pair<std::string, std::string>> members;
    skip_space();
    if (!take('}')) {
      do {
        skip_space();
        auto& [key, member] = members.emplace_back();
        if (peek() != '"' || !string(key)) return false;
        skip_space();
        if (!take(':') || !value(member, depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take('}')) return false;
    }
    std::ranges::sort(members);
    const auto same_key = [](const auto& left, const auto& right) {
      return left.first == right.first;
    };
    if (std::ranges::adjacent_find(members, same_key) != members.end()) return false;
    out += '{';
    for (const auto& [key, member] : members) (out += key) += member;
    out += '}';
    return true;
  }

  bool array(std::string& out, std::size_t depth) {
    ++at_;
    out += '[';
    skip_space();
    if (!take(']')) {
      do {
        if (!value(out, depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take(']')) return false;
    }
    out += ']';
    return true;
  }

  bool string(std::string& out) {
    ++at_;
    std::string bytes;
    for (;;) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      bytes.append(text_, begin, at_ - begin);
      if (take('"')) break;
      if (!take('\\') || !escape(bytes)) return false;
    }
    fmt::format_to(std::back_inserter(out), "\"{}:", bytes.size());
    out += bytes;
    return true;
  }
  static bool is_plain(char c) {
    return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
  }

  bool escape(std::string& bytes) {
    if (at_ == text_.size()) return false;
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
    const char name = text_[at_++];
    if (const std::size_t known = kNames.find(name); known != std::string_view::npos) {
      bytes += kBytes[known];
      return true;
    }
    std::uint32_t code = 0;
    if (name != 'u' || !hex(code) || is_low(code)) return false;
    if (is_high(code)) {
      std::uint32_t low = 0;
      if (!take('\\') || !take('u') || !hex(low) || !is_low(low)) return false;
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    }
    append_utf8(code, bytes);
    return true;
  }
  static bool is_high(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
  static bool is_low(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

  bool hex(std::uint32_t& code) {
    if (text_.size() - at_ < 4) return false;
    const char* begin = text_.data() + at_;
    at_ += 4;
    const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
    return error == std::errc() && end == begin + 4;
  }

  static void append_utf8(std::uint32_t code, std::string& bytes) {
    const auto tail = [code](unsigned shift) {
      return static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
    };
    if (code < 0x80) {
      bytes += static_cast<char>(code);
    } else if (code < 0x800) {
      bytes += {static_cast<char>(0xC0U | (code >> 6U)), tail(0)};
    } else if (code < 0x10000) {
      bytes += {static_cast<char>(0xE0U | (code >> 12U)), tail(6), tail(0)};
    } else {
      bytes += {static_cast<char>(0xF0U | (code >> 18U)), tail(12), tail(6), tail(0)};
    }
  }

  bool digits(std::string& into) {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    into.append(text_, begin, at_ - begin);
    return at_ > begin;
  }

  bool number(std::string& out) {
    const std::size_t begin = at_;
    const bool negative = take('-');
    std::string mantissa;
    if (take('0')) {
      mantissa = "0";
    } else if (!digits(mantissa)) {
      return false;
    }
    std::int64_t exponent = 0;
    if (take('.')) {
      const std::size_t whole = mantissa.size();
      if (!digits(mantissa)) return false;
      exponent = static_cast<std::int64_t>(whole) - static_cast<std::int64_t>(mantissa.size());
    }
    if (take('e') || take('E')) {
      const bool minus = take('-');
      if (!minus) take('+');
      std::string power;
      if (!digits(power) || power.size() > 9) return false;
      const std::int64_t size = std::stoll(power);
      exponent += minus ? -size : size;
    }
    write_number(text_.substr(begin, at_ - begin), negative, std::move(mantissa), exponent, out);
    return true;
  }

  // mantissa * 10^exponent without zeros at either end, or the nearest double of a fraction.
  static void write_number(std::string_view spelling, bool negative, std::string mantissa,
                           std::int64_t exponent, std::string& out) {
    mantissa.erase(0, std::min(mantissa.find_first_not_of('0'), mantissa.size()));
    const std::size_t kept = mantissa.find_last_not_of('0') + 1;
    exponent += static_cast<std::int64_t>(mantissa.size() - kept);
    mantissa.resize(kept);
    if (mantissa.empty()) {
      out += "#0;";
      return;
    }
    double nearest = 0;
    if (exponent < 0) {
      const auto [end, error] =
          std::from_chars(spelling.data(), spelling.data() + spelling.size(), nearest);
      std::array<char, 64> text{};
      const auto written = std::to_chars(text.data(), text.data() + text.size(), nearest,
                                         std::chars_format::scientific);
      if (error == std::errc() && written.ec == std::errc()) {
        ((out += '~').append(text.data(), written.ptr)) += ';';
        return;
      }
    }
    fmt::format_to(std::back_inserter(out), "#{}{}e{};", negative ? "-" : "", mantissa, exponent);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> canonical_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (!Reader(text).read_all(out)) return std::nullopt;
  return out;
}

std::string canonical_arguments(std::string_view text) {
  if (text.empty()) text = "{}";
  if (auto canonical = canonical_json(text)) return std::move(*canonical);
  return "=" + std::string(text);
}

}  // namespace samovar
