#include "client/request_body.h"

#include <array>
#include <nlohmann/json.hpp>

namespace samovar::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kOptional = {"return_progress", "prompt_cache_key",
                                                       "stream_options",  "chat_template_kwargs",
                                                       "top_k",           "reasoning_content"};

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json messages_of(const History& history, bool with_reasoning) {
  Json messages = Json::array();
  if (!history.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", history.system}});
  }
  for (const Message& message : history.messages) {
    Json json = {{"role", message.user ? "user" : "assistant"}, {"content", message.content}};
    if (with_reasoning && !message.reasoning.empty()) {
      json["reasoning_content"] = message.reasoning;
    }
    messages.push_back(std::move(json));
  }
  return messages;
}

}  // namespace

std::string messages_json(const History& history, bool with_reasoning) {
  return text_of(messages_of(history, with_reasoning));
}

std::string request_body(const History& history, const RequestSettings& settings,
                         const LeftOut& left_out) {
  const auto known = [&](std::string_view field) { return !left_out.contains(field); };
  Json body;
  if (!settings.model.empty()) body["model"] = settings.model;
  body["messages"] = messages_of(history, known("reasoning_content"));
  body["stream"] = true;
  if (known("stream_options")) body["stream_options"] = {{"include_usage", true}};
  if (known("return_progress")) body["return_progress"] = true;
  if (known("prompt_cache_key") && !settings.session.empty()) {
    body["prompt_cache_key"] = settings.session;
  }
  if (settings.max_tokens) {
    const bool old_name = known("max_tokens");
    body[old_name ? "max_tokens" : "max_completion_tokens"] = *settings.max_tokens;
  }
  if (settings.temperature) body["temperature"] = *settings.temperature;
  if (settings.top_p) body["top_p"] = *settings.top_p;
  if (settings.top_k && known("top_k")) body["top_k"] = *settings.top_k;
  if (settings.seed) body["seed"] = *settings.seed;
  if (settings.thinking && known("chat_template_kwargs")) {
    body["chat_template_kwargs"] = {{"enable_thinking", *settings.thinking}};
  }
  return text_of(body);
}

std::optional<std::string> refused_field(int status, std::string_view error,
                                         const RequestSettings& settings, const LeftOut& left_out) {
  if (status != 400 && status != 422) return std::nullopt;
  const auto names = [&](std::string_view field) {
    return error.find(field) != std::string_view::npos && !left_out.contains(field);
  };
  // "Use 'max_completion_tokens' instead": what is left out then is the old name.
  if (settings.max_tokens && names("max_tokens") && names("max_completion_tokens")) {
    return "max_tokens";
  }
  for (const std::string_view field : kOptional) {
    if (names(field)) return std::string(field);
  }
  return std::nullopt;
}

}  // namespace samovar::client
