// A text cut into pieces of one kind each, as tokenisers cut before they look into their
// vocabulary. Cuts depend on what stands before them only, so texts that begin alike are cut alike.
// Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace samovar::replay {

struct TextPiece {
  enum class Kind { letters, digits, other_script, marks, space, newline };
  Kind kind = Kind::letters;
  std::string_view text;

  [[nodiscard]] std::size_t tokens() const;  // about
};

[[nodiscard]] std::vector<TextPiece> text_pieces(std::string_view text);

}  // namespace samovar::replay
