#include "turn/rewarm_prompt.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "prefix/shared_prefix.h"

namespace samovar {
namespace {

// Two messages that have nothing in common, so that what their prompts share is theirs with any.
constexpr const char* const kStubs[] = {"Go on, please.", "What else is there?"};

Result<Prompt> render_with(const Replied& replied, const RenderPrompt& render, std::string stub) {
  ChatRequest request = replied.request;
  request.messages.push_back(replied.reply);
  request.messages.back().role = Role::assistant;
  request.messages.push_back({.role = Role::user, .content = std::move(stub)});
  return render(request);
}

// The last place at which both prompts begin a message and still agree; 0: none.
Position next_message_start(const Prompt& one, const Prompt& other) {
  const Position shared = shared_prefix(one.tokens, other.tokens);
  const auto& starts = one.message_starts;
  const auto end = std::ranges::lower_bound(starts, shared);
  for (auto start = std::make_reverse_iterator(end); start != starts.rend(); ++start) {
    if (std::ranges::binary_search(other.message_starts, *start)) return *start;
  }
  return 0;
}

Prompt history_of(Prompt prompt, Position end) {
  prompt.tokens.resize(static_cast<std::size_t>(end));
  std::erase_if(prompt.message_starts, [&](Position start) { return start > end; });
  std::erase_if(prompt.reply_starts, [&](Position start) { return start >= end; });
  prompt.system_end = std::min(prompt.system_end, end);
  prompt.primer_start = end;
  return prompt;
}

// How far the tokens that the turn left in memory are those of `history`.
Position kept(const Replied& replied, const Tokens& history) {
  const auto& prompt = replied.prompt.tokens;
  const Position shared = shared_prefix(history, prompt);
  if (static_cast<std::size_t>(shared) < prompt.size()) return shared;
  return shared + shared_prefix(TokenSpan(history).subspan(prompt.size()), replied.reply_tokens);
}

}  // namespace

Result<std::optional<Prompt>> rewarm_prompt(const Replied& replied, const RenderPrompt& render,
                                            Position departed_min) {
  const auto& messages = replied.request.messages;
  // A reply to a message of the model itself goes on from it; how it comes back is not known.
  if (messages.empty() || messages.back().role == Role::assistant) return std::nullopt;
  auto one = render_with(replied, render, kStubs[0]);
  if (!one) return std::unexpected(one.error());
  const auto other = render_with(replied, render, kStubs[1]);
  if (!other) return std::unexpected(other.error());
  const Position end = next_message_start(*one, *other);
  Prompt history = history_of(std::move(*one), end);
  if (end - kept(replied, history.tokens) <= departed_min) return std::nullopt;
  return history;
}

}  // namespace samovar
