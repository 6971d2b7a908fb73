#include "base/hex_text.h"

#include <fmt/format.h>

#include <iterator>

namespace samovar {

std::string hex_text(Bytes bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

}  // namespace samovar
