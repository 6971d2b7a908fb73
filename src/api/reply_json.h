// The parts of a reply that its streamed and its whole form share: usage, timings, log
// probabilities, finish_reason, ids. Pure but for the ids, which are random; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "api/chat_path.h"
#include "api/reply_dialect.h"
#include "core/turn.h"

namespace samovar {

// What every chunk and the whole response begin with.
struct ReplyIdentity {
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
};

inline constexpr const char* kSystemFingerprint = "samovar";

[[nodiscard]] std::string random_id(
    std::string_view prefix);  // "chatcmpl-" + 24 letters and digits

[[nodiscard]] const char* finish_reason(FinishReason reason, bool called_tool);

[[nodiscard]] nlohmann::ordered_json usage_json(const TurnTimings& timings);

// Prefill and decode apart; a rate that is not defined (nothing computed, no interval) is null.
[[nodiscard]] nlohmann::ordered_json timings_json(const TurnTimings& timings);

// `prompt_progress`, in llama-server's form: `processed` includes what came from the cache.
[[nodiscard]] nlohmann::ordered_json progress_json(const ReplyProgress& progress);

// JSON has no infinity, and clients do arithmetic with this; OpenAI sends -9999 for "never".
[[nodiscard]] double finite_logprob(float logprob);

// choices[].logprobs for these tokens.
[[nodiscard]] nlohmann::ordered_json logprobs_json(std::span<const Sampled> tokens,
                                                   const ChatPath& chat);

}  // namespace samovar
