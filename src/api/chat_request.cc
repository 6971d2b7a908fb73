#include "api/chat_request.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_fields.h"
#include "api/message_memo.h"
#include "api/outlined_body.h"
#include "base/limits.h"

namespace samovar {
namespace {

// -1 is llama-server's way to say "no limit"; 0 would be a turn without a reply.
void read_max_tokens(const JsonObject& body, std::optional<std::int64_t>& max_tokens) {
  for (const char* name : {"max_tokens", "max_completion_tokens"}) {  // the later one wins
    const auto given = body.integer(name, -1, std::numeric_limits<std::int32_t>::max());
    if (!given) continue;
    if (*given == 0) {
      body.problem().report("'" + body.path(name) + "' is 0", body.path(name),
                            "ask for at least 1 token, or leave the field out for no limit");
    }
    max_tokens = *given < 0 ? std::nullopt : given;
  }
}

void read_session(const JsonObject& body, DialectRequest& request) {
  request.session_key = body.string("prompt_cache_key").value_or("");
  request.user_hint = body.string("user").value_or("");
  request.store = body.boolean("store").value_or(false);
  if (const auto metadata = body.object("metadata")) {
    if (auto user = metadata->string("user_id")) request.user_hint = std::move(*user);
  }
}

// Fields that would change the reply's meaning if they were passed over in silence.
void refuse_unsupported(const JsonObject& body) {
  (void)body.string("model");  // any name is served by the one model there is
  if (const auto n = body.integer("n", 1, 128); n && *n != 1) {
    body.problem().report("only one choice per request is supported", "n",
                          "leave 'n' out or send 1, and send the request again for more");
  }
  refuse_foreign_fields(body);
  if (const auto* kinds = body.array("modalities", limits::tools_max)) {
    for (const auto& kind : *kinds) {
      if (kind == "text") continue;
      body.problem().report("only text is written here", "modalities", "leave the field out");
    }
  }
  if (body.find("functions") != nullptr) {
    body.problem().report("'functions' is not supported", "functions", "use 'tools'");
  }
  if (body.find("function_call") != nullptr) {
    body.problem().report("'function_call' is not supported", "function_call", "use 'tool_choice'");
  }
}

// Everything but the messages.
void read_others(const JsonObject& fields, const ChatDefaults& defaults,
                 ChatCompletionRequest& request) {
  read_tools(fields, request.chat);
  read_response_format(fields, request.chat);
  read_template_arguments(fields, request.chat);
  read_reply_options(fields, defaults, request);
  request.extras = read_stream_extras(fields);
}

ParsedMessages read_one(const JsonObject& fields) { return {read_message(fields)}; }

// nullopt if anything is wrong or unusual: what that is, the body as a whole tells.
std::optional<ChatCompletionRequest> parse_by_message(std::string_view body,
                                                      const ChatDefaults& defaults,
                                                      MessageMemo& memo) {
  const auto outlined = OutlinedBody::of(body);
  if (!outlined) return std::nullopt;
  Problem problem;
  const JsonObject fields(outlined->rest(), "", problem);
  ChatCompletionRequest request;
  request.chat.enable_thinking = defaults.enable_thinking;
  refuse_unsupported(fields);
  read_others(fields, defaults, request);
  if (problem.found()) return std::nullopt;
  if (!outlined->read_messages(memo, read_one, request.chat.messages)) return std::nullopt;
  return request;
}

}  // namespace

void refuse_foreign_fields(const JsonObject& body) {
  constexpr const char* kSchema = "use 'response_format' of chat completions";
  constexpr std::pair<const char*, const char*> kFields[] = {
      {"grammar", kSchema},
      {"json_schema", kSchema},
      {"guided_json", kSchema},
      {"guided_regex", kSchema},
      {"guided_choice", kSchema},
      {"guided_grammar", kSchema},
      {"structured_outputs", kSchema},
      {"web_search_options", "let the client search, and send what it found"},
      {"audio", "ask for text"}};
  for (const auto& [name, remedy] : kFields) {
    if (body.find(name) == nullptr) continue;
    body.problem().report(fmt::format("'{}' is not supported", name), name, remedy);
  }
}

StreamExtras read_stream_extras(const JsonObject& fields) {
  StreamExtras extras;
  extras.return_progress = fields.boolean("return_progress").value_or(false);
  if (const auto options = fields.object("stream_options")) {
    extras.include_usage = options->boolean("include_usage").value_or(false);
  }
  return extras;
}

void read_reply_options(const JsonObject& fields, const ChatDefaults& defaults,
                        DialectRequest& request) {
  request.sampling = defaults.sampling;
  request.max_tokens = defaults.max_tokens;
  read_sampling(fields, defaults.vocab_size, request.sampling);
  read_stop(fields, request.stop);
  read_max_tokens(fields, request.max_tokens);
  request.stream = fields.boolean("stream").value_or(false);
  read_session(fields, request);
}

Result<ChatCompletionRequest> parse_chat_request(std::string_view body,
                                                 const ChatDefaults& defaults, MessageMemo* memo) {
  if (memo != nullptr) {
    if (auto request = parse_by_message(body, defaults, *memo)) return std::move(*request);
  }
  nlohmann::ordered_json json;
  if (auto parsed = parse_json_body(body, json); !parsed) return std::unexpected(parsed.error());

  Problem problem;
  const JsonObject fields(json, "", problem);
  ChatCompletionRequest request;
  request.chat.enable_thinking = defaults.enable_thinking;
  refuse_unsupported(fields);
  read_messages(fields, request.chat);
  read_others(fields, defaults, request);
  if (problem.found()) return std::unexpected(problem.error());
  return request;
}

Result<ChatCompletionRequest> parse_continue_request(std::string_view body,
                                                     const ChatDefaults& defaults) {
  nlohmann::ordered_json json;
  if (auto parsed = parse_json_body(body.empty() ? "{}" : body, json); !parsed) {
    return std::unexpected(parsed.error());
  }
  Problem problem;
  const JsonObject fields(json, "", problem);
  ChatCompletionRequest request;
  for (const char* name : {"messages", "tools", "response_format"}) {
    if (fields.find(name) == nullptr) continue;
    problem.report(fmt::format("'{}' cannot be changed for a reply that goes on", name), name,
                   "leave it out, or send a new request");
  }
  read_reply_options(fields, defaults, request);
  request.extras = read_stream_extras(fields);
  if (problem.found()) return std::unexpected(problem.error());
  return request;
}

}  // namespace samovar
