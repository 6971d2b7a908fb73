// ReplyMessage: a reply put together from its deltas, as it goes out to the client. Gives ids to
// the tool calls whose format has none. One reply, one thread.
#pragma once

#include <utility>

#include "core/chat.h"

namespace samovar {

class ReplyMessage {
 public:
  // The first piece of a call gets an id if it has none.
  void add(ReplyDelta& delta);

  [[nodiscard]] const ChatMessage& message() const { return message_; }
  [[nodiscard]] ChatMessage take() { return std::move(message_); }

 private:
  ChatMessage message_{.role = Role::assistant};
};

}  // namespace samovar
