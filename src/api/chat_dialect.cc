#include "api/chat_dialect.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"
#include "api/turn_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// The `delta` objects are written by hand: there is one for every token.

std::string call_begins(const ReplyBlock& block) {
  return "{\"tool_calls\":[{\"index\":" + std::to_string(block.call) +
         ",\"id\":" + json_string(block.id) + R"(,"type":"function","function":{"name":)" +
         json_string(block.name) + R"(,"arguments":""}}]})";
}

std::string block_delta(const ReplyBlock& block, std::string_view piece) {
  std::string out;
  switch (block.kind) {
    case ReplyBlock::Kind::reasoning:
      out = R"({"reasoning_content":)";
      append_json_string(out, piece);
      break;
    case ReplyBlock::Kind::text:
      out = R"({"content":)";
      append_json_string(out, piece);
      break;
    case ReplyBlock::Kind::tool_call:
      out = R"({"tool_calls":[{"index":)" + std::to_string(block.call) +
            R"(,"function":{"arguments":)";
      append_json_string(out, piece);
      out += "}}]";
      break;
  }
  out += '}';
  return out;
}

}  // namespace

ChatDialect::ChatDialect(ReplyIdentity identity, ChatStreamOptions options, const ChatPath& chat)
    : identity_(std::move(identity)), options_(options), chat_(chat) {
  head_ = "data: {\"id\":" + json_string(identity_.id) +
          R"(,"object":"chat.completion.chunk","created":)" + std::to_string(identity_.created) +
          ",\"model\":" + json_string(identity_.model) +
          ",\"system_fingerprint\":" + json_string(kSystemFingerprint) + ",\"choices\":[";
  tail_ = options.extras.include_usage ? "],\"usage\":null" : "]";
}

void ChatDialect::progress(const ReplyProgress& progress, std::string& out) {
  if (!options_.extras.return_progress) return;
  begin(out);
  append_chunk("{}", {}, nullptr, ",\"prompt_progress\":" + json_text(progress_json(progress)),
               out);
}

void ChatDialect::block_begins(const ReplyBlock& block, std::string& out) {
  begin(out);
  if (block.kind != ReplyBlock::Kind::tool_call) return;
  append_chunk(call_begins(block), {}, nullptr, "", out);
}

void ChatDialect::block_grows(const ReplyBlock& block, std::string_view piece,
                              std::span<const Sampled> tokens, std::string& out) {
  append_chunk(block_delta(block, piece), tokens, nullptr, "", out);
}

void ChatDialect::ended(const ReplyDone& reply, std::string& out) {
  begin(out);
  append_chunk("{}", reply.logprobs, reply.finish, ",\"timings\":" + json_text(reply.timings), out);
  if (options_.extras.include_usage) {
    out += head_ + "],\"usage\":" + json_text(usage_json(reply.turn.timings)) + "}\n\n";
  }
  out += "data: [DONE]\n\n";
}

void ChatDialect::failed(const Error& error, std::string& out) {
  out += "data: " + error_json(error) + "\n\n";
}

HttpResponse ChatDialect::whole(const ReplyDone& reply) {
  Json choice;
  choice["index"] = 0;
  choice["message"] = message_json(reply.message);
  choice["logprobs"] = options_.logprobs ? logprobs_json(reply.logprobs, chat_) : Json();
  choice["finish_reason"] = reply.finish;

  Json json;
  json["id"] = identity_.id;
  json["object"] = "chat.completion";
  json["created"] = identity_.created;
  json["model"] = identity_.model;
  json["system_fingerprint"] = kSystemFingerprint;
  json["choices"] = Json::array({std::move(choice)});
  json["usage"] = usage_json(reply.turn.timings);
  json["timings"] = reply.timings;
  HttpResponse response;
  response.body = json_text(json);
  return response;
}

void ChatDialect::begin(std::string& out) {
  if (std::exchange(begun_, true)) return;
  append_chunk(R"({"role":"assistant","content":""})", {}, nullptr, "", out);
}

void ChatDialect::append_chunk(std::string_view delta, std::span<const Sampled> tokens,
                               const char* finish, std::string_view extra, std::string& out) const {
  out += head_;
  out += "{\"index\":0,\"delta\":";
  out += delta;
  out += ",\"logprobs\":";
  out += tokens.empty() || !options_.logprobs ? "null" : json_text(logprobs_json(tokens, chat_));
  out += ",\"finish_reason\":";
  out += finish == nullptr ? "null" : json_string(finish);
  out += '}';
  out += tail_;
  out += extra;
  out += "}\n\n";
}

}  // namespace samovar
