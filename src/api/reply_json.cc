#include "api/reply_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

Json rate(std::int64_t count, Micros duration) {
  if (count <= 0 || duration <= 0) return nullptr;
  return static_cast<double>(count) * static_cast<double>(kSecond) / static_cast<double>(duration);
}

Json token_json(Token token, float logprob, const ChatPath& chat) {
  std::string piece = chat.piece(token);
  Json bytes = Json::array();
  for (const char byte : piece) bytes.push_back(static_cast<unsigned char>(byte));
  return {{"token", std::move(piece)},
          {"logprob", finite_logprob(logprob)},
          {"bytes", std::move(bytes)}};
}

}  // namespace

std::string random_id(std::string_view prefix) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  thread_local std::mt19937_64 generator{std::random_device{}()};
  std::uniform_int_distribution<std::size_t> pick(0, kAlphabet.size() - 1);
  std::string id(prefix);
  for (int i = 0; i < 24; ++i) id += kAlphabet[pick(generator)];
  return id;
}

const char* finish_reason(FinishReason reason, bool called_tool) {
  // A reply that was cut, by its length or by a stop string, may have been cut inside a call.
  if (reason == FinishReason::length) return "length";
  return called_tool && reason == FinishReason::end ? "tool_calls" : "stop";
}

Json usage_json(const TurnTimings& timings) {
  return {{"prompt_tokens", timings.prompt_tokens},
          {"completion_tokens", timings.reply_tokens},
          {"total_tokens", std::int64_t{timings.prompt_tokens} + timings.reply_tokens},
          {"prompt_tokens_details", {{"cached_tokens", timings.reused_tokens}}}};
}

Json timings_json(const TurnTimings& timings) {
  // The first token comes out of the prefill, so n tokens take n - 1 decode steps.
  const std::int64_t decode_steps = std::int64_t{timings.reply_tokens} - 1;
  return {{"render_ms", to_ms(timings.render)},
          {"queue_ms", to_ms(timings.queue)},
          {"plan_ms", to_ms(timings.plan)},
          {"restore_ms", to_ms(timings.restore)},
          {"restore_bytes", timings.restore_bytes},
          {"restore_read_ms", to_ms(timings.restore_read)},
          {"restore_verify_ms", to_ms(timings.restore_verify)},
          {"restore_set_ms", to_ms(timings.restore_set)},
          {"prefill_tokens", timings.computed_tokens},
          {"prefill_ms", to_ms(timings.prefill)},
          {"prefill_per_second", rate(timings.computed_tokens, timings.prefill)},
          {"first_token_ms", to_ms(timings.first_token)},
          {"decode_tokens", timings.reply_tokens},
          {"decode_ms", to_ms(timings.decode)},
          {"decode_per_second", rate(decode_steps, timings.decode)},
          {"prompt_tokens", timings.prompt_tokens},
          {"reused_tokens", timings.reused_tokens},
          {"computed_tokens", timings.computed_tokens},
          {"rewarmed_tokens", timings.rewarmed_tokens},
          {"matched_tokens", timings.matched_tokens},
          {"source", to_string(timings.source)}};
}

Json progress_json(const ReplyProgress& progress) {
  return {{"total", progress.total},
          {"cache", progress.reused},
          {"processed", progress.done},
          {"time_ms", to_ms(progress.elapsed)}};
}

double finite_logprob(float logprob) { return std::max(static_cast<double>(logprob), -9999.0); }

Json logprobs_json(std::span<const Sampled> tokens, const ChatPath& chat) {
  Json content = Json::array();
  for (const Sampled& sampled : tokens) {
    Json entry = token_json(sampled.token, sampled.logprob, chat);
    Json top = Json::array();
    for (const TokenLogprob& other : sampled.top) {
      top.push_back(token_json(other.token, other.logprob, chat));
    }
    entry["top_logprobs"] = std::move(top);
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

}  // namespace samovar
