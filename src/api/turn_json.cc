#include "api/turn_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/explain_json.h"
#include "api/reply_json.h"
#include "api/text_or_null.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json word_list(const std::string& words) {
  Json json = Json::array();
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t comma = std::min(words.find(',', at), words.size());
    json.push_back(words.substr(at, comma - at));
    at = comma + 1;
  }
  return json;
}

Json turn_json(const TurnRecord& turn) {
  Json json;
  json["id"] = turn.id;
  json["object"] = "samovar.turn";
  json["status"] = to_string(turn.status);
  json["session"] = turn.session;
  json["session_named_by_client"] = turn.session_named;
  json["dialect"] = turn.dialect;
  json["model"] = turn.model;
  json["created"] = turn.created;
  json["ended"] = turn.ended == 0 ? Json() : Json(turn.ended);
  json["finish_reason"] = text_or_null(turn.finish);
  json["error"] = text_or_null(turn.error);
  json["continues"] = text_or_null(turn.continues);
  json["messages"] = turn.messages;
  json["tools"] = turn.tools;
  json["usage"] = usage_json(turn.timings);
  json["timings"] = timings_json(turn.timings);
  json["replayed_replies"] = turn.replayed;
  json["reasoning_restored"] = turn.reasoning_restored;
  json["neutralised"] = word_list(turn.neutralised);
  json["tool_order"] = text_or_null(turn.tool_order);
  json["text_kept"] = turn.keep_text;
  json["miss"] = turn.miss ? explanation_json(*turn.miss, ExplainTexts::hidden) : Json();
  return json;
}

Json message_json(const ChatMessage& message) {
  Json json;
  json["role"] = "assistant";
  const bool only_calls = message.content.empty() && !message.tool_calls.empty();
  json["content"] = only_calls ? Json() : Json(message.content);
  if (!message.reasoning.empty()) json["reasoning_content"] = message.reasoning;
  if (message.tool_calls.empty()) return json;
  Json& calls = json["tool_calls"] = Json::array();
  for (const ToolCall& call : message.tool_calls) {
    calls.push_back({{"id", call.id},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return json;
}

Json completion_json(const TurnRecord& turn, Json message) {
  Json json;
  json["id"] = turn.id;
  json["object"] = "chat.completion";
  json["created"] = turn.created;
  json["model"] = turn.model;
  json["system_fingerprint"] = kSystemFingerprint;
  json["choices"] = Json::array({{{"index", 0},
                                  {"message", std::move(message)},
                                  {"logprobs", nullptr},
                                  {"finish_reason", text_or_null(turn.finish)}}});
  json["usage"] = usage_json(turn.timings);
  json["timings"] = timings_json(turn.timings);
  return json;
}

}  // namespace samovar
