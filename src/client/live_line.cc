#include "client/live_line.h"

#include <utility>

#include "client/text.h"

namespace samovar::client {
namespace {

constexpr char32_t kCtrlD = 4;
constexpr char32_t kBackspace = 8;
constexpr char32_t kCtrlU = 21;
constexpr char32_t kCtrlW = 23;
constexpr char32_t kEscape = 27;
constexpr char32_t kDelete = 127;

}  // namespace

LiveLine::Outcome LiveLine::key(Key key) {
  if (key.pasted) {
    if (is_control(key.code)) return Outcome::nothing;
    append_utf8(text_, key.code);
    return Outcome::changed;
  }
  if (in_escape(key.code)) return Outcome::nothing;
  switch (key.code) {
    case '\r':
    case '\n':
      return enter();
    case kCtrlD:
      return empty() ? Outcome::leave : Outcome::nothing;
    case kBackspace:
    case kDelete:
      erase_character();
      return Outcome::changed;
    case kCtrlU:
      text_.clear();
      return Outcome::changed;
    case kCtrlW:
      while (text_.ends_with(' ')) text_.pop_back();
      while (!text_.empty() && !text_.ends_with(' ')) text_.pop_back();
      return Outcome::changed;
    default:
      break;
  }
  if (is_control(key.code)) return Outcome::nothing;
  append_utf8(text_, key.code);
  return Outcome::changed;
}

std::string LiveLine::text() const {
  return lines_.empty() ? text_ : lines_.so_far() + "\n" + text_;
}

std::string LiveLine::take() {
  if (!entered_.empty()) return std::exchange(entered_, {});
  std::string all = text();
  (void)lines_.take();
  text_.clear();
  return all;
}

// Arrow keys and their kin mean nothing here.
bool LiveLine::in_escape(char32_t code) {
  if (escape_ == Escape::begun) {
    escape_ = code == '[' || code == 'O' ? Escape::sequence : Escape::none;
    return true;
  }
  if (escape_ == Escape::sequence) {
    if (code >= 0x40 && code <= 0x7E) escape_ = Escape::none;
    return true;
  }
  if (code == kEscape) escape_ = Escape::begun;
  return escape_ == Escape::begun;
}

LiveLine::Outcome LiveLine::enter() {
  const std::string line = std::exchange(text_, {});
  if (lines_.empty() && line.find_first_not_of(" \n\t") == std::string::npos) {
    return Outcome::changed;
  }
  if (!lines_.add(line)) return Outcome::changed;
  entered_ = lines_.take();
  return entered_.empty() ? Outcome::changed : Outcome::entered;
}

void LiveLine::erase_character() {
  while (!text_.empty() && (static_cast<unsigned char>(text_.back()) & 0xC0) == 0x80) {
    text_.pop_back();
  }
  if (!text_.empty()) text_.pop_back();
}

}  // namespace samovar::client
