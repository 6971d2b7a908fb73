#include "client/key_decoder.h"

#include "client/text.h"

namespace samovar::client {
namespace {

constexpr std::string_view kPasteBegins = "\033[200~";
constexpr std::string_view kPasteEnds = "\033[201~";

// How many bytes a character has that begins with this one.
std::size_t length_of(unsigned char lead) {
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  return 1;
}

}  // namespace

void KeyDecoder::push(std::string_view bytes) {
  pending_ += bytes;
  while (!pending_.empty()) {
    const std::string_view marker = pasting_ ? kPasteEnds : kPasteBegins;
    if (take_marker()) continue;
    if (marker.starts_with(pending_)) return;  // may become one
    if (pending_.size() < length_of(static_cast<unsigned char>(pending_[0]))) return;
    take_character(true);
  }
}

std::optional<Key> KeyDecoder::next() {
  if (keys_.empty()) return std::nullopt;
  const Key key = keys_.front();
  keys_.pop_front();
  return key;
}

void KeyDecoder::give_up() {
  while (!pending_.empty()) take_character(false);
}

bool KeyDecoder::take_marker() {
  const std::string_view marker = pasting_ ? kPasteEnds : kPasteBegins;
  if (!pending_.starts_with(marker)) return false;
  pending_.erase(0, marker.size());
  pasting_ = !pasting_;
  return true;
}

void KeyDecoder::take_character(bool complete) {
  Decoded next = decode_utf8(pending_);
  if (!complete && next.code == kReplacement) next.bytes = pending_.size();
  // Terminals paste a newline as the Enter key.
  if (pasting_ && next.code == '\r') next.code = '\n';
  keys_.push_back({next.code, pasting_});
  pending_.erase(0, next.bytes);
}

}  // namespace samovar::client
