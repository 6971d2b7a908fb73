// Words that mean nothing: three letters each, with a space or a newline between them, which
// tokenisers of text make about one token of. For generated and redacted traces. Pure.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace samovar::replay {

// The word of a number; numbers that differ seldom have the same.
[[nodiscard]] std::string pseudo_word(std::uint64_t number);

// So many words, one of eight before a newline.
[[nodiscard]] std::string pseudo_text(std::size_t words, std::mt19937_64& random);

// Tokens that a text has, about: a word for six letters begun, three bytes of other scripts, two
// digits or two marks, an indent.
[[nodiscard]] std::size_t estimate_tokens(std::string_view text);

}  // namespace samovar::replay
