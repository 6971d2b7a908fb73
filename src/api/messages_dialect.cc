#include "api/messages_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_text.h"
#include "base/hash.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

void append_event(std::string& out, std::string_view name, std::string_view data) {
  out += "event: ";
  out += name;
  out += "\ndata: ";
  out += data;
  out += "\n\n";
}

// Clients send thinking back only with a signature. Nothing here depends on it: what a reply said
// is known from its tokens.
std::string signature(const std::string& thinking) {
  const Checksum sum =
      checksum({reinterpret_cast<const std::uint8_t*>(thinking.data()), thinking.size()});
  return fmt::format("samovar-{:016x}{:016x}", sum.high, sum.low);
}

Json usage_json(Position prompt, Position reused, Position history, Position reply) {
  const Position kept = std::clamp(history - reused, 0, prompt - reused);
  return {{"input_tokens", prompt - reused - kept},
          {"cache_creation_input_tokens", kept},
          {"cache_read_input_tokens", reused},
          {"output_tokens", reply}};
}

Json usage_of(const ReplyDone& reply) {
  const TurnTimings& timings = reply.turn.timings;
  return usage_json(timings.prompt_tokens, timings.reused_tokens, reply.plan.history_tokens,
                    timings.reply_tokens);
}

// The arguments as an object. Of a call that was cut there is only their beginning.
Json call_input(const std::string& arguments) {
  Json input = Json::parse(arguments, nullptr, /*allow_exceptions=*/false);
  if (input.is_object()) return input;
  return arguments.empty() ? Json::object() : Json{{"partial_json", arguments}};
}

Json block_json(const ReplyBlock& block) {
  switch (block.kind) {
    case ReplyBlock::Kind::reasoning:
      return {{"type", "thinking"}, {"thinking", block.text}, {"signature", signature(block.text)}};
    case ReplyBlock::Kind::text:
      return {{"type", "text"}, {"text", block.text}};
    case ReplyBlock::Kind::tool_call:
      return {{"type", "tool_use"},
              {"id", block.id},
              {"name", block.name},
              {"input", call_input(block.text)}};
  }
  return {};
}

Json empty_block(const ReplyBlock& block) {
  switch (block.kind) {
    case ReplyBlock::Kind::reasoning:
      return {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}};
    case ReplyBlock::Kind::text:
      return {{"type", "text"}, {"text", ""}};
    case ReplyBlock::Kind::tool_call:
      return {
          {"type", "tool_use"}, {"id", block.id}, {"name", block.name}, {"input", Json::object()}};
  }
  return {};
}

// By hand: there is one for every token.
std::string delta_event(std::size_t index, std::string_view type, std::string_view field,
                        std::string_view text) {
  std::string data = R"({"type":"content_block_delta","index":)" + std::to_string(index);
  data += R"(,"delta":{"type":")";
  data += type;
  data += R"(",")";
  data += field;
  data += "\":";
  append_json_string(data, text);
  data += "}}";
  return data;
}

}  // namespace

MessagesDialect::MessagesDialect(std::string id, std::string model, std::vector<std::string> stop,
                                 std::optional<std::int64_t> max_tokens)
    : id_(std::move(id)),
      model_(std::move(model)),
      stop_(std::move(stop)),
      max_tokens_(max_tokens) {}

void MessagesDialect::planned(const TurnStarted& plan, std::string& out) {
  plan_ = plan;
  begin(out);
}

void MessagesDialect::block_begins(const ReplyBlock& block, std::string& out) {
  begin(out);
  append_event(out, "content_block_start",
               json_text({{"type", "content_block_start"},
                          {"index", block.index},
                          {"content_block", empty_block(block)}}));
}

void MessagesDialect::block_grows(const ReplyBlock& block, std::string_view piece,
                                  std::span<const Sampled>, std::string& out) {
  std::string_view type = "text_delta";
  std::string_view field = "text";
  if (block.kind == ReplyBlock::Kind::reasoning) {
    type = "thinking_delta";
    field = "thinking";
  } else if (block.kind == ReplyBlock::Kind::tool_call) {
    type = "input_json_delta";
    field = "partial_json";
  }
  append_event(out, "content_block_delta", delta_event(block.index, type, field, piece));
}

void MessagesDialect::block_ends(const ReplyBlock& block, std::string& out) {
  if (block.kind == ReplyBlock::Kind::reasoning) {
    append_event(out, "content_block_delta",
                 delta_event(block.index, "signature_delta", "signature", signature(block.text)));
  }
  append_event(out, "content_block_stop",
               json_text({{"type", "content_block_stop"}, {"index", block.index}}));
}

void MessagesDialect::ended(const ReplyDone& reply, std::string& out) {
  begin(out);
  const Ending end = ending(reply);
  Json delta = {{"stop_reason", end.reason},
                {"stop_sequence", end.sequence ? Json(*end.sequence) : Json()}};
  append_event(out, "message_delta",
               json_text({{"type", "message_delta"},
                          {"delta", std::move(delta)},
                          {"usage", usage_of(reply)},
                          {"timings", reply.timings}}));
  append_event(out, "message_stop", R"({"type":"message_stop"})");
}

void MessagesDialect::failed(const Error& error, std::string& out) {
  append_event(out, "error", error_json(error, ErrorForm::anthropic));
}

std::string_view MessagesDialect::keepalive() const {
  return "event: ping\ndata: {\"type\":\"ping\"}\n\n";
}

std::string messages_field(const std::string& field) {
  constexpr std::string_view kParameters = ".function.parameters";
  if (field.starts_with("response_format")) return "output_config.format";
  if (!field.starts_with("tools[") || !field.ends_with(kParameters)) return field;
  return field.substr(0, field.size() - kParameters.size()) + ".input_schema";
}

std::string MessagesDialect::client_field(const std::string& field) const {
  return messages_field(field);
}

HttpResponse MessagesDialect::whole(const ReplyDone& reply) {
  const Ending end = ending(reply);
  Json json = message(usage_of(reply));
  for (const ReplyBlock& block : reply.blocks) json["content"].push_back(block_json(block));
  json["stop_reason"] = end.reason;
  if (end.sequence) json["stop_sequence"] = *end.sequence;
  json["timings"] = reply.timings;
  HttpResponse response;
  response.body = json_text(json);
  return response;
}

Json MessagesDialect::message(Json usage) const {
  return {{"id", id_},
          {"type", "message"},
          {"role", "assistant"},
          {"model", model_},
          {"content", Json::array()},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr},
          {"usage", std::move(usage)}};
}

MessagesDialect::Ending MessagesDialect::ending(const ReplyDone& reply) const {
  const TurnFinished& turn = reply.turn;
  if (turn.reason == FinishReason::length) {
    const bool asked = max_tokens_ && turn.timings.reply_tokens >= *max_tokens_;
    return {asked ? "max_tokens" : "model_context_window_exceeded", std::nullopt};
  }
  // The format's own stop strings are not the client's business.
  if (std::ranges::find(stop_, turn.stopped_at) != stop_.end()) {
    return {"stop_sequence", turn.stopped_at};
  }
  return {std::string_view(reply.finish) == "tool_calls" ? "tool_use" : "end_turn", std::nullopt};
}

void MessagesDialect::begin(std::string& out) {
  if (std::exchange(begun_, true)) return;
  append_event(out, "message_start",
               json_text({{"type", "message_start"},
                          {"message", message(usage_json(plan_.prompt_tokens, plan_.reused_tokens,
                                                         plan_.history_tokens, 0))}}));
}

}  // namespace samovar
