// OutlinedBody: a request body read message by message, most of them from memory, so that parsing a
// conversation that comes again costs what is new in it. Views into the body. One thread.
//
// The rest of the body being valid JSON, the messages stand where the outline says, and each being
// valid alone, so is the whole. Whatever is wrong or unusual makes it give up: the caller then
// parses the body as a whole, which names the problem.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_fields.h"
#include "api/json_outline.h"
#include "api/message_memo.h"
#include "core/chat.h"

namespace samovar {

class OutlinedBody {
 public:
  // `member` has the messages. nullopt: give up.
  [[nodiscard]] static std::optional<OutlinedBody> of(std::string_view body,
                                                      std::string_view member = "messages");

  // The body without messages.
  [[nodiscard]] const nlohmann::ordered_json& rest() const { return *rest_; }

  // Appends the messages. `read` reads one element, reporting problems through the object. False:
  // give up.
  using Reader = ParsedMessages (*)(const JsonObject& fields);
  [[nodiscard]] bool read_messages(MessageMemo& memo, Reader read,
                                   std::vector<ChatMessage>& messages) const;

 private:
  OutlinedBody(JsonOutline outline, nlohmann::ordered_json rest);

  JsonOutline outline_;
  std::shared_ptr<const nlohmann::ordered_json> rest_;
};

}  // namespace samovar
