#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

namespace samovar {
namespace {

const unsigned char* input(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* output(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

std::string to_base64(std::string_view bytes) {
  constexpr std::size_t kPiece = 3 << 20;  // whole groups, so that pieces can be joined
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
    const std::string_view piece = bytes.substr(0, kPiece);
    std::string encoded((piece.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a final zero
    const int size = EVP_EncodeBlock(output(encoded), input(piece), static_cast<int>(piece.size()));
    text.append(encoded, 0, static_cast<std::size_t>(size));
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max()) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(output(bytes), input(text), static_cast<int>(text.size())) < 0) {
    return std::nullopt;
  }
  // OpenSSL counts the padding's bytes, too.
  if (text.ends_with("==")) {
    bytes.resize(bytes.size() - 2);
  } else if (text.ends_with('=')) {
    bytes.resize(bytes.size() - 1);
  }
  // It takes white space at the ends and odd padding, which nothing here writes.
  if (to_base64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace samovar
