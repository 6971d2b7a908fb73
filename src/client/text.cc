#include "client/text.h"

#include <wchar.h>

#include <algorithm>
#include <vector>

namespace samovar::client {

Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  char32_t code = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
    code = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    code = lead & 0x0F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    code = lead & 0x07;
  }
  if (length == 0 || text.size() < length) return {kReplacement, 1};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kReplacement, 1};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {kReplacement, 1};
  return {code, length};
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode_utf8(text);
    append_utf8(out, next.code);
    text.remove_prefix(next.bytes);
  }
  return out;
}

bool is_control(char32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

int width_of(char32_t code) { return std::clamp(::wcwidth(static_cast<wchar_t>(code)), 0, 2); }

int width_of(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Decoded next = decode_utf8(text);
    width += width_of(next.code);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string one_line(std::string_view text, int columns) {
  std::string out;
  std::string blank;
  int width = 0;
  while (!text.empty()) {
    const Decoded next = decode_utf8(text);
    text.remove_prefix(next.bytes);
    if (next.code == ' ' || next.code == '\n' || next.code == '\t' || next.code == '\r') {
      if (!out.empty()) blank = " ";
      continue;
    }
    if (is_control(next.code)) continue;
    const int more = static_cast<int>(blank.size()) + width_of(next.code);
    if (width + more > columns - (text.empty() ? 0 : 1)) return out + "…";
    out += blank;
    blank.clear();
    append_utf8(out, next.code);
    width += more;
  }
  return out;
}

std::string line_tail(std::string_view text, int columns) {
  std::vector<char32_t> codes;
  while (!text.empty()) {
    const Decoded next = decode_utf8(text);
    text.remove_prefix(next.bytes);
    if (next.code == '\n') codes.push_back(U'⏎');
    if (next.code == '\t') codes.push_back(' ');
    if (next.code != '\n' && next.code != '\t' && !is_control(next.code)) {
      codes.push_back(next.code);
    }
  }
  int width = 0;
  std::size_t begin = codes.size();
  while (begin > 0 && width + width_of(codes[begin - 1]) <= columns - (begin > 1 ? 1 : 0)) {
    --begin;
    width += width_of(codes[begin]);
  }
  std::string out = begin > 0 ? "…" : "";
  for (std::size_t i = begin; i < codes.size(); ++i) append_utf8(out, codes[i]);
  return out;
}

}  // namespace samovar::client
