#include "api/json_text.h"

#include <nlohmann/json.hpp>

namespace samovar {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

struct Utf8Step {
  std::size_t bytes;  // how far to go: a whole character, or a maximal broken piece
  bool valid;
};

// The well-formed byte sequences of the Unicode standard, table 3-7: only the second byte's range
// depends on the first.
Utf8Step utf8_step(std::string_view text, std::size_t begin) {
  const unsigned char lead = byte_at(text, begin);
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // overlong
    if (lead == 0xED) high = 0x9F;  // surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;   // overlong
    if (lead == 0xF4) high = 0x8F;  // beyond U+10FFFF
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (begin + i >= text.size()) return {i, false};
    const unsigned char next = byte_at(text, begin + i);
    if (next < low || next > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

void append_escaped_ascii(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

bool plain_ascii(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t run = at;
    while (at < text.size() && plain_ascii(byte_at(text, at))) ++at;
    out.append(text, run, at - run);
    if (at == text.size()) break;
    const unsigned char c = byte_at(text, at);
    if (c < 0x80) {
      append_escaped_ascii(out, c);
      ++at;
      continue;
    }
    const Utf8Step step = utf8_step(text, at);
    out += step.valid ? text.substr(at, step.bytes) : kReplacement;
    at += step.bytes;
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_string(out, text);
  return out;
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace samovar
