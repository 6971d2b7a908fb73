// History: what a conversation consists of, as the next request will say it. A message without a
// reply of any kind is pending: no server has it in a conversation, so the next message takes its
// place unless it is sent again. A value; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace samovar::client {

struct Message {
  bool user = false;  // else the assistant's
  std::string content;
  std::string reasoning;  // exactly as received; assistant only
  bool cut = false;       // a reply that did not come to its end
  bool operator==(const Message&) const = default;
};

class History {
 public:
  std::string system;  // empty: none
  std::vector<Message> messages;

  [[nodiscard]] bool pending() const { return !messages.empty() && messages.back().user; }

  // Index of the n-th last message of the user (1: the last).
  [[nodiscard]] std::optional<std::size_t> user_message(std::size_t n) const;
  [[nodiscard]] std::size_t user_messages() const;
};

}  // namespace samovar::client
