#include "client/completion_chunk.h"

#include <nlohmann/json.hpp>

#include "client/text.h"

namespace samovar::client {
namespace {

using Json = nlohmann::json;

constexpr int kBodyShown = 300;  // columns of a body that has no message

const Json* find(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string string_in(const Json& json, const char* name) {
  const Json* value = find(json, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<double> number_in(const Json& json, const char* name) {
  const Json* value = find(json, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<std::int64_t> count_in(const Json& json, const char* name) {
  const auto number = number_in(json, name);
  if (!number || *number < 0 || *number > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

template <class T>
void take(std::optional<T>& into, const std::optional<T>& value) {
  if (value) into = value;
}

// Samovar's timings; where its names are missing, llama-server's.
TurnFigures figures_of_timings(const Json& timings) {
  TurnFigures figures;
  const bool llama = find(timings, "predicted_n") != nullptr;
  figures.reused_tokens = count_in(timings, llama ? "cache_n" : "reused_tokens");
  figures.computed_tokens = count_in(timings, llama ? "prompt_n" : "computed_tokens");
  figures.reply_tokens = count_in(timings, llama ? "predicted_n" : "decode_tokens");
  figures.prefill_ms = number_in(timings, llama ? "prompt_ms" : "prefill_ms");
  figures.prefill_per_second =
      number_in(timings, llama ? "prompt_per_second" : "prefill_per_second");
  figures.decode_ms = number_in(timings, llama ? "predicted_ms" : "decode_ms");
  figures.decode_per_second =
      number_in(timings, llama ? "predicted_per_second" : "decode_per_second");
  figures.first_token_ms = number_in(timings, "first_token_ms");
  figures.prompt_tokens = count_in(timings, "prompt_tokens");
  if (!figures.prompt_tokens && figures.reused_tokens && figures.computed_tokens) {
    figures.prompt_tokens = *figures.reused_tokens + *figures.computed_tokens;
  }
  return figures;
}

TurnFigures figures_of_usage(const Json& usage) {
  TurnFigures figures;
  figures.prompt_tokens = count_in(usage, "prompt_tokens");
  figures.reply_tokens = count_in(usage, "completion_tokens");
  if (const Json* details = find(usage, "prompt_tokens_details")) {
    figures.reused_tokens = count_in(*details, "cached_tokens");
  }
  return figures;
}

std::optional<PromptProgress> progress_of(const Json& json) {
  const auto total = count_in(json, "total");
  const auto done = count_in(json, "processed");
  if (!total || !done) return std::nullopt;
  PromptProgress progress;
  progress.total = *total;
  progress.done = *done;
  progress.reused = count_in(json, "cache").value_or(0);
  progress.ms = number_in(json, "time_ms").value_or(0);
  return progress;
}

std::string message_of_error(const Json& json) {
  for (const char* name : {"error", "message", "detail"}) {
    const Json* value = find(json, name);
    if (value == nullptr) continue;
    if (value->is_string()) return value->get<std::string>();
    if (value->is_object() && !string_in(*value, "message").empty()) {
      return string_in(*value, "message");
    }
    return value->dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return {};
}

void read_choice(const Json& choice, CompletionChunk& chunk) {
  chunk.finish = string_in(choice, "finish_reason");
  const Json* delta = find(choice, "delta");
  if (delta == nullptr) delta = find(choice, "message");
  if (delta == nullptr) return;
  chunk.content = string_in(*delta, "content");
  chunk.reasoning = string_in(*delta, "reasoning_content");
  if (chunk.reasoning.empty()) chunk.reasoning = string_in(*delta, "reasoning");
  const Json* calls = find(*delta, "tool_calls");
  if (calls == nullptr || !calls->is_array() || calls->empty()) return;
  if (const Json* function = find(calls->front(), "function")) {
    chunk.tool = string_in(*function, "name");
  }
}

Json parse_tolerantly(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  // A server that cuts its reply inside a character sends bytes that are no UTF-8.
  if (json.is_discarded()) json = Json::parse(valid_utf8(text), nullptr, false);
  return json;
}

}  // namespace

void TurnFigures::merge(const TurnFigures& other) {
  take(prompt_tokens, other.prompt_tokens);
  take(reused_tokens, other.reused_tokens);
  take(computed_tokens, other.computed_tokens);
  take(reply_tokens, other.reply_tokens);
  take(prefill_ms, other.prefill_ms);
  take(prefill_per_second, other.prefill_per_second);
  take(first_token_ms, other.first_token_ms);
  take(decode_ms, other.decode_ms);
  take(decode_per_second, other.decode_per_second);
}

Result<CompletionChunk> parse_chunk(std::string_view text) {
  const Json json = parse_tolerantly(text);
  if (!json.is_object()) {
    return fail(ErrorKind::invalid_argument,
                "the server sent something that is no JSON: " + one_line(text, 60));
  }
  CompletionChunk chunk;
  chunk.id = string_in(json, "id");
  const Json* choices = find(json, "choices");
  if (choices != nullptr && choices->is_array() && !choices->empty()) {
    read_choice(choices->front(), chunk);
  }
  if (const Json* progress = find(json, "prompt_progress")) chunk.progress = progress_of(*progress);
  TurnFigures figures;
  if (const Json* usage = find(json, "usage")) figures.merge(figures_of_usage(*usage));
  if (const Json* timings = find(json, "timings")) figures.merge(figures_of_timings(*timings));
  if (!figures.empty()) chunk.figures = figures;
  if (find(json, "error") != nullptr || string_in(json, "object") == "error") {
    chunk.error = message_of_error(json);
    if (chunk.error.empty()) chunk.error = "the server failed and did not say why";
  }
  return chunk;
}

std::string error_text(std::string_view body) {
  const Json json = parse_tolerantly(body);
  if (json.is_object()) {
    const std::string message = message_of_error(json);
    if (!message.empty()) return valid_utf8(message);
  }
  return one_line(body, kBodyShown);
}

}  // namespace samovar::client
