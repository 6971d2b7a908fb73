#include "api/reply_message.h"

#include "api/reply_json.h"

namespace samovar {

void ReplyMessage::add(ReplyDelta& delta) {
  message_.reasoning += delta.reasoning;
  message_.content += delta.content;
  if (!delta.tool_call) return;
  ReplyDelta::Call& piece = *delta.tool_call;
  auto& calls = message_.tool_calls;
  if (piece.index >= calls.size()) calls.resize(piece.index + 1);
  ToolCall& call = calls[piece.index];
  if (!piece.name.empty()) {  // the first piece
    if (piece.id.empty()) piece.id = random_id("call_");
    call.name = piece.name;
  }
  if (!piece.id.empty()) call.id = piece.id;
  call.arguments += piece.arguments;
}

}  // namespace samovar
