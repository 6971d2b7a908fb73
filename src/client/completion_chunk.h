// CompletionChunk: one event of a streamed reply, or a whole one, as values. Reads what OpenAI,
// Samovar, llama-server, vLLM and their kin send; what is absent or of another type stays empty.
// Pure; any thread. Errors: the text is no JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace samovar::client {

// While the prompt is computed. Tokens.
struct PromptProgress {
  std::int64_t total = 0;
  std::int64_t reused = 0;
  std::int64_t done = 0;  // the reused ones included
  double ms = 0;          // since the computing began
};

// What the server says of the turn. Prefill and decode apart; what it does not say is empty.
struct TurnFigures {
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> reused_tokens;
  std::optional<std::int64_t> computed_tokens;
  std::optional<std::int64_t> reply_tokens;
  std::optional<double> prefill_ms;
  std::optional<double> prefill_per_second;
  std::optional<double> first_token_ms;
  std::optional<double> decode_ms;
  std::optional<double> decode_per_second;

  // Takes over what `other` knows.
  void merge(const TurnFigures& other);
  [[nodiscard]] bool empty() const { return !prompt_tokens && !reply_tokens; }
};

struct CompletionChunk {
  std::string id;
  std::string content;
  std::string reasoning;
  std::string tool;    // name of a tool the model called
  std::string finish;  // finish_reason
  std::optional<PromptProgress> progress;
  std::optional<TurnFigures> figures;
  std::string error;  // not empty: the stream failed; the server's message
};

[[nodiscard]] Result<CompletionChunk> parse_chunk(std::string_view json);

// The message in the body of a failed request, in whatever form; the beginning of the body if none
// is found.
[[nodiscard]] std::string error_text(std::string_view body);

}  // namespace samovar::client
