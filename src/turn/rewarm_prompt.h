// What a re-warm should have in memory: the history of a conversation as its template will render
// it once a message of the user follows, up to where that message begins. Templates drop or rewrite
// parts of earlier turns then (reasoning, above all), so it may part early from the tokens that the
// turn left in memory. Pure but for what `render` does; any thread.
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "core/chat.h"
#include "core/prompt.h"

namespace samovar {

// A request to tokens, as turns of the server are rendered.
using RenderPrompt = std::function<Result<Prompt>(const ChatRequest&)>;

// A reply that ended.
struct Replied {
  const ChatRequest& request;
  const ChatMessage& reply;
  const Prompt& prompt;    // of the request
  TokenSpan reply_tokens;  // sampled
};

// nullopt: the next message will find all but `departed_min` tokens of its history in memory as
// they are, or nothing can be foretold. The prompt ends where the next message begins; that place
// is its last message start. Errors: those of `render`.
[[nodiscard]] Result<std::optional<Prompt>> rewarm_prompt(const Replied& replied,
                                                          const RenderPrompt& render,
                                                          Position departed_min);

}  // namespace samovar
