#include "api/response_object.h"

#include <nlohmann/json.hpp>

#include "api/json_text.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

const char* error_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::overloaded:
      return "rate_limit_exceeded";
    case ErrorKind::too_large:
      return "context_length_exceeded";
    case ErrorKind::invalid_argument:
      return "invalid_prompt";
    default:
      return "server_error";
  }
}

}  // namespace

std::string response_json(const ResponseHead& head, const ResponseState& state) {
  std::string out = "{\"id\":" + json_string(head.id) + R"(,"object":"response","created_at":)";
  out += std::to_string(head.created);
  out += ",\"status\":" + json_string(state.status) + ",\"completed_at\":";
  out += state.completed == 0 ? "null" : std::to_string(state.completed);
  out += ",\"error\":" + state.error + ",\"incomplete_details\":" + state.incomplete;
  out += ",\"model\":" + json_string(head.model) + ",\"output\":" + state.output;
  out += ",\"usage\":" + state.usage;
  if (!head.settings.empty()) out += "," + head.settings;
  if (!state.timings.empty()) out += ",\"timings\":" + state.timings;
  return out + "}";
}

std::string response_usage(const TurnTimings& timings, Position reasoning_tokens) {
  return json_text({{"input_tokens", timings.prompt_tokens},
                    {"input_tokens_details", {{"cached_tokens", timings.reused_tokens}}},
                    {"output_tokens", timings.reply_tokens},
                    {"output_tokens_details", {{"reasoning_tokens", reasoning_tokens}}},
                    {"total_tokens", std::int64_t{timings.prompt_tokens} + timings.reply_tokens}});
}

std::string response_error(const Error& error) {
  std::string message = error.message;
  if (!error.remedy.empty()) message += ": " + error.remedy;
  return json_text({{"code", error_code(error.kind)}, {"message", std::move(message)}});
}

void set_finish(std::string_view finish, ResponseState& state) {
  const bool cut = finish == "length";
  state.status = cut ? "incomplete" : "completed";
  if (cut) state.incomplete = R"({"reason":"max_output_tokens"})";
}

}  // namespace samovar
