// Histories: the whole messages of each turn of a trace, put together from what the turns before
// say and the replies that are fed back. Borrows the trace. Const calls from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/trace.h"

namespace samovar::replay {

// A reply as the next request brings it back.
struct FedReply {
  ChatMessage message{.role = Role::assistant};
  std::map<std::string, std::string> ids;  // of calls: as recorded -> as they are now
  bool changed = false;                    // it is not what the server sent
};

// The reply that the server really gave, so that what was recorded behind it still fits: it has as
// many calls as the recorded one, which lends those that are missing. `recorded` may be null.
[[nodiscard]] FedReply fit_reply(const ChatMessage& actual, const TraceReply* recorded);

class Histories {
 public:
  explicit Histories(const Trace& trace);

  // Index of a turn in the trace, which must have it.
  [[nodiscard]] std::size_t index(std::string_view id) const { return index_.at(std::string(id)); }

  // `reply_of(i)`: what came back of turn i; null: nothing is known, and the message is left out.
  using Replies = std::function<const FedReply*(std::size_t turn)>;
  [[nodiscard]] std::vector<ChatMessage> messages(std::size_t turn, const Replies& reply_of) const;

  // With the replies as recorded.
  [[nodiscard]] std::vector<ChatMessage> recorded_messages(std::size_t turn) const;

  [[nodiscard]] const std::vector<Tool>& tools(std::size_t turn) const;
  [[nodiscard]] const TraceSettings& settings(std::size_t turn) const;

  // As many as messages() gives where every reply is known.
  [[nodiscard]] std::size_t count(std::size_t turn) const;

 private:
  [[nodiscard]] std::size_t before(std::size_t turn) const;  // index of `after`

  const Trace& trace_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace samovar::replay
