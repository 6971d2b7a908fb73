#include "replay/text_pieces.h"

namespace samovar::replay {
namespace {

using Kind = TextPiece::Kind;

constexpr std::size_t kPieceMax = 30;  // bytes; so that a long run shows where two texts part

Kind kind_of(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  if (code >= 0x80) return Kind::other_script;
  if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')) return Kind::letters;
  if (code >= '0' && code <= '9') return Kind::digits;
  if (code == '\n' || code == '\r') return Kind::newline;
  if (code == ' ' || code == '\t') return Kind::space;
  return Kind::marks;
}

}  // namespace

std::size_t TextPiece::tokens() const {
  switch (kind) {
    case Kind::letters:
      return (text.size() + 5) / 6;
    case Kind::other_script:
      return (text.size() + 2) / 3;
    case Kind::digits:
    case Kind::marks:
      return (text.size() + 1) / 2;
    case Kind::space:
      return text.size() > 1 ? 1 : 0;  // an indent; one space belongs to the word behind it
    case Kind::newline:
      return 0;  // a newline is written between words, and counts with them
  }
  return 0;
}

std::vector<TextPiece> text_pieces(std::string_view text) {
  std::vector<TextPiece> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const Kind kind = kind_of(text[at]);
    std::size_t end = at + 1;
    while (end < text.size() && end - at < kPieceMax && kind_of(text[end]) == kind) ++end;
    pieces.push_back({kind, text.substr(at, end - at)});
    at = end;
  }
  return pieces;
}

}  // namespace samovar::replay
