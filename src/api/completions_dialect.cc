#include "api/completions_dialect.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

CompletionsDialect::CompletionsDialect(ReplyIdentity identity, CompletionOptions options,
                                       const ChatPath& chat)
    : identity_(std::move(identity)), options_(std::move(options)), chat_(chat) {
  head_ = "data: {\"id\":" + json_string(identity_.id) +
          R"(,"object":"text_completion","created":)" + std::to_string(identity_.created) +
          ",\"model\":" + json_string(identity_.model) +
          ",\"system_fingerprint\":" + json_string(kSystemFingerprint) + ",\"choices\":[";
}

void CompletionsDialect::planned(const TurnStarted&, std::string& out) {
  if (!options_.echo.empty()) append_chunk(options_.echo, {}, nullptr, "", out);
}

void CompletionsDialect::progress(const ReplyProgress& progress, std::string& out) {
  if (!options_.extras.return_progress) return;
  append_chunk("", {}, nullptr, ",\"prompt_progress\":" + json_text(progress_json(progress)), out);
}

void CompletionsDialect::block_grows(const ReplyBlock&, std::string_view piece,
                                     std::span<const Sampled> tokens, std::string& out) {
  append_chunk(piece, tokens, nullptr, "", out);
}

void CompletionsDialect::ended(const ReplyDone& reply, std::string& out) {
  append_chunk("", reply.logprobs, reply.finish, ",\"timings\":" + json_text(reply.timings), out);
  if (options_.extras.include_usage) {
    out += head_ + "],\"usage\":" + json_text(usage_json(reply.turn.timings)) + "}\n\n";
  }
  out += "data: [DONE]\n\n";
}

void CompletionsDialect::failed(const Error& error, std::string& out) {
  out += "data: " + error_json(error) + "\n\n";
}

HttpResponse CompletionsDialect::whole(const ReplyDone& reply) {
  const Json choice = {{"index", 0},
                       {"text", options_.echo + reply.message.content},
                       {"logprobs", options_.logprobs ? logprobs(reply.logprobs) : Json()},
                       {"finish_reason", reply.finish}};
  const Json json = {{"id", identity_.id},
                     {"object", "text_completion"},
                     {"created", identity_.created},
                     {"model", identity_.model},
                     {"system_fingerprint", kSystemFingerprint},
                     {"choices", Json::array({choice})},
                     {"usage", usage_json(reply.turn.timings)},
                     {"timings", reply.timings}};
  HttpResponse response;
  response.body = json_text(json);
  return response;
}

// The form of the first completions: columns. text_offset counts bytes from the reply's beginning.
Json CompletionsDialect::logprobs(std::span<const Sampled> tokens) {
  Json json = {{"tokens", Json::array()},
               {"token_logprobs", Json::array()},
               {"top_logprobs", Json::array()},
               {"text_offset", Json::array()}};
  for (const Sampled& sampled : tokens) {
    const std::string piece = chat_.piece(sampled.token);
    Json top = Json::object();
    for (const TokenLogprob& other : sampled.top) {
      top[chat_.piece(other.token)] = finite_logprob(other.logprob);
    }
    json["tokens"].push_back(piece);
    json["token_logprobs"].push_back(finite_logprob(sampled.logprob));
    json["top_logprobs"].push_back(std::move(top));
    json["text_offset"].push_back(text_offset_);
    text_offset_ += piece.size();
  }
  return json;
}

void CompletionsDialect::append_chunk(std::string_view text, std::span<const Sampled> tokens,
                                      const char* finish, std::string_view extra,
                                      std::string& out) {
  out += head_;
  out += "{\"index\":0,\"text\":";
  append_json_string(out, text);
  out += ",\"logprobs\":";
  out += tokens.empty() || !options_.logprobs ? "null" : json_text(logprobs(tokens));
  out += ",\"finish_reason\":";
  out += finish == nullptr ? "null" : json_string(finish);
  out += "}]";
  if (options_.extras.include_usage) out += ",\"usage\":null";
  out += extra;
  out += "}\n\n";
}

}  // namespace samovar
