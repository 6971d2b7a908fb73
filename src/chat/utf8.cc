#include "chat/utf8.h"

#include <cstdint>

namespace samovar {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  std::uint8_t low;
  std::uint8_t high;
};

// Length of the character that `lead` opens, 0 if none does; `second` gets the range of its second
// byte, which is what rules out overlong forms, surrogates and values above U+10FFFF.
int character_length(std::uint8_t lead, Range& second) {
  second = {0x80, 0xBF};
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (lead == 0xE0) second.low = 0xA0;
    if (lead == 0xED) second.high = 0x9F;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (lead == 0xF0) second.low = 0x90;
    if (lead == 0xF4) second.high = 0x8F;
    return 4;
  }
  return 0;
}

// Bytes of `text` from `at` that form a valid beginning of one character, and that character's
// length.
int valid_bytes(std::string_view text, std::size_t at, int& length) {
  Range range{};
  length = character_length(static_cast<std::uint8_t>(text[at]), range);
  if (length == 0) return 0;
  int valid = 1;
  while (valid < length && at + valid < text.size()) {
    const auto byte = static_cast<std::uint8_t>(text[at + valid]);
    if (byte < range.low || byte > range.high) break;
    range = {0x80, 0xBF};
    ++valid;
  }
  return valid;
}

}  // namespace

std::string Utf8Repair::push(std::string_view bytes) {
  std::string input = std::move(pending_);
  pending_.clear();
  input += bytes;
  std::string output;
  output.reserve(input.size());
  for (std::size_t at = 0; at < input.size();) {
    int length = 0;
    const int valid = valid_bytes(input, at, length);
    if (valid > 0 && valid == length) {
      output.append(input, at, valid);
    } else if (valid > 0 && at + valid == input.size()) {
      pending_ = input.substr(at);
    } else {
      output += kReplacement;
    }
    at += valid > 0 ? valid : 1;
  }
  return output;
}

std::string Utf8Repair::finish() {
  const bool unfinished = !pending_.empty();
  pending_.clear();
  return unfinished ? std::string(kReplacement) : std::string();
}

}  // namespace samovar
