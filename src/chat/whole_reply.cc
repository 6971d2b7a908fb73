#include "chat/whole_reply.h"

#include <utility>
#include <vector>

#include "chat/chat_format.h"

namespace samovar {

ChatMessage read_whole_reply(std::shared_ptr<const ReplySyntax> syntax, std::string_view text) {
  ReplyParser parser(std::move(syntax));
  ChatMessage message{.role = Role::assistant};
  const auto add = [&](const std::vector<ReplyDelta>& deltas) {
    for (const ReplyDelta& delta : deltas) {
      message.reasoning += delta.reasoning;
      message.content += delta.content;
      if (!delta.tool_call) continue;
      if (delta.tool_call->index >= message.tool_calls.size()) {
        message.tool_calls.resize(delta.tool_call->index + 1);
      }
      ToolCall& call = message.tool_calls[delta.tool_call->index];
      call.name += delta.tool_call->name;
      call.arguments += delta.tool_call->arguments;
    }
  };
  add(parser.feed(text));
  add(parser.finish());
  return message;
}

}  // namespace samovar
