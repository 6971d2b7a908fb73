#include "replay/pseudo_text.h"

#include "replay/text_pieces.h"

namespace samovar::replay {
namespace {

constexpr std::string_view kFirst = "bcdfghjklmnprstvwz";
constexpr std::string_view kMiddle = "aeiou";
constexpr std::string_view kLast = "bdfgklmnprstvxz";
constexpr std::uint64_t kLineWords = 8;

}  // namespace

std::string pseudo_word(std::uint64_t number) {
  std::string word(3, ' ');
  word[0] = kFirst[number % kFirst.size()];
  number /= kFirst.size();
  word[1] = kMiddle[number % kMiddle.size()];
  number /= kMiddle.size();
  word[2] = kLast[number % kLast.size()];
  return word;
}

std::string pseudo_text(std::size_t words, std::mt19937_64& random) {
  std::string text;
  text.reserve(words * 4);
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t number = random();
    if (i > 0) text += (number >> 40) % kLineWords == 0 ? '\n' : ' ';
    text += pseudo_word(number);
  }
  return text;
}

std::size_t estimate_tokens(std::string_view text) {
  std::size_t tokens = 0;
  for (const TextPiece& piece : text_pieces(text)) tokens += piece.tokens();
  return tokens;
}

}  // namespace samovar::replay
