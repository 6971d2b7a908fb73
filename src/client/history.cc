#include "client/history.h"

#include <algorithm>

namespace samovar::client {

std::optional<std::size_t> History::user_message(std::size_t n) const {
  for (std::size_t i = messages.size(); i > 0; --i) {
    if (messages[i - 1].user && --n == 0) return i - 1;
  }
  return std::nullopt;
}

std::size_t History::user_messages() const {
  return static_cast<std::size_t>(
      std::count_if(messages.begin(), messages.end(), [](const Message& m) { return m.user; }));
}

}  // namespace samovar::client
