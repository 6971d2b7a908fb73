#include "replay/plain_text.h"

#include "client/text.h"

namespace samovar::replay {

std::string plain_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const client::Decoded next = client::decode_utf8(text);
    client::append_utf8(out, client::is_control(next.code) ? U'?' : next.code);
    text.remove_prefix(next.bytes);
  }
  return out;
}

}  // namespace samovar::replay
