#include "api/completions_request.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_fields.h"
#include "api/token_list.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// A text, a list of tokens, or a list with one of either.
void read_prompt(const JsonObject& body, int vocab_size, CompletionRequest& request) {
  const Json* prompt = body.find("prompt");
  Problem& problem = body.problem();
  if (prompt == nullptr) {
    return problem.report("'prompt' is missing", "prompt", "send a string or a list of token ids");
  }
  std::string path = "prompt";
  if (prompt->is_array() && !prompt->empty() && !prompt->front().is_number()) {
    if (prompt->size() > 1) {
      return problem.report(
          fmt::format("'prompt' has {} prompts, and one is answered at a time", prompt->size()),
          "prompt", "send a request for each");
    }
    prompt = &prompt->front();
    path = "prompt[0]";
  }
  if (prompt->is_string()) {
    request.prompt = prompt->get<std::string>();
  } else {
    request.prompt = read_token_list(*prompt, path, vocab_size, problem);
  }
}

void refuse_unsupported(const JsonObject& body) {
  (void)body.string("model");  // any name is served by the one model there is
  Problem& problem = body.problem();
  if (const auto suffix = body.string("suffix"); suffix && !suffix->empty()) {
    problem.report("'suffix' is not supported: the model continues text, it does not fill gaps",
                   "suffix", "leave it out, or write the model's own infill tokens into 'prompt'");
  }
  refuse_foreign_fields(body);
  for (const char* name : {"response_format", "tools", "messages"}) {
    if (body.find(name) == nullptr) continue;
    problem.report(fmt::format("'{}' belongs to chat completions", name), name,
                   "send it to POST /v1/chat/completions");
  }
  for (const char* name : {"n", "best_of"}) {
    if (const auto n = body.integer(name, 1, 128); n && *n != 1) {
      problem.report("only one choice per request is supported", name,
                     "leave it out or send 1, and send the request again for more");
    }
  }
}

// A number here, as the first completions had it; the chat dialect has two fields.
void read_logprobs(const JsonObject& body, CompletionRequest& request) {
  const auto logprobs = body.integer("logprobs", 0, limits::top_logprobs_max);
  if (!logprobs) return;
  request.sampling.top_logprobs = static_cast<int>(*logprobs);
  if (request.echo) {
    body.problem().report(
        "'logprobs' with 'echo' would need those of the prompt, which are not computed", "logprobs",
        "leave one of the two out");
  }
}

}  // namespace

Result<CompletionRequest> parse_completion_request(std::string_view body,
                                                   const ChatDefaults& defaults) {
  Json json;
  if (auto parsed = parse_json_body(body, json); !parsed) return std::unexpected(parsed.error());
  Problem problem;
  const JsonObject fields(json, "", problem);
  CompletionRequest request;
  refuse_unsupported(fields);
  read_prompt(fields, defaults.vocab_size, request);
  request.echo = fields.boolean("echo").value_or(false);
  read_logprobs(fields, request);
  // What is left is as in a chat request, which spells log probabilities in another way.
  json.erase("logprobs");
  const auto logprobs = request.sampling.top_logprobs;
  read_reply_options(fields, defaults, request);
  request.sampling.top_logprobs = logprobs;
  request.extras = read_stream_extras(fields);
  if (problem.found()) return std::unexpected(problem.error());
  return request;
}

}  // namespace samovar
