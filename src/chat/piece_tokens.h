// PieceTokens: who may give a piece of a rendered conversation (from one message opener to the
// next) other tokens than those of its text. Pieces come in order, each once.
#pragma once

#include <string_view>

#include "core/tokens.h"

namespace samovar {

class PieceTokens {
 public:
  virtual ~PieceTokens() = default;

  // Appends the tokens that stand for `piece`, which begin with its opener and have no other; or
  // appends nothing and returns false: its text's own are right.
  virtual bool append(std::string_view piece, Tokens& tokens) = 0;
};

}  // namespace samovar
