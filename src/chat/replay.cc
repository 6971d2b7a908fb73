#include "chat/replay.h"

#include <algorithm>
#include <utility>

namespace samovar {
namespace {

// What a message says matches a reply if it says the same; a message without reasoning says nothing
// about it.
bool says(const ChatMessage& message, const std::vector<CallMeaning>& calls,
          const ReplyMeaning& meaning) {
  const std::string_view reasoning = trimmed(message.reasoning);
  return (reasoning.empty() || reasoning == meaning.reasoning) &&
         trimmed(message.content) == meaning.content && calls == meaning.calls;
}

bool one_begins_other(std::string_view left, std::string_view right) {
  return left.starts_with(right) || right.starts_with(left);
}

// The same for a reply that was cut, of which the client may have less: the format's end was not
// there yet, or the connection broke before it came.
bool may_begin(const ChatMessage& message, const std::vector<CallMeaning>& calls,
               const ReplyMeaning& meaning) {
  return one_begins_other(trimmed(message.reasoning), meaning.reasoning) &&
         one_begins_other(trimmed(message.content), meaning.content) &&
         calls.size() <= meaning.calls.size() &&
         std::equal(calls.begin(), calls.end(), meaning.calls.begin());
}

bool matches(const ChatMessage& message, const std::vector<CallMeaning>& calls,
             const SampledReply& reply) {
  return std::ranges::any_of(reply.meanings, [&](const ReplyMeaning& meaning) {
    return says(message, calls, meaning) || (!reply.complete && may_begin(message, calls, meaning));
  });
}

// By the ids of its calls first: they name the very reply, whatever the messages before it.
std::vector<ReplySource::Reply> candidates_for(const ChatMessage& message,
                                               const DialogueKeys::Reply& known,
                                               ReplySource& source) {
  std::vector<ReplySource::Reply> candidates;
  const auto add = [&](ReplySource::Reply reply) {
    if (reply == nullptr || std::ranges::find(candidates, reply) != candidates.end()) return;
    if (matches(message, known.calls, *reply)) candidates.push_back(std::move(reply));
  };
  for (const ToolCall& call : message.tool_calls) {
    if (!call.id.empty()) add(source.find_call(call.id));
  }
  for (ReplySource::Reply& reply : source.find(known.context)) add(std::move(reply));
  return candidates;
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace

Replay::Replay(ReplayMemo& memo, const ChatRequest& request, const DialogueKeys& keys,
               ReplySource& source)
    : memo_(memo), request_(request) {
  if (memo_.rules().opening().empty()) return;
  for (const Tool& tool : request.tools) {
    expect_lookalikes(tool.description);
    expect_lookalikes(tool.parameters);
  }
  auto known = keys.replies.begin();
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const ChatMessage& message = request.messages[i];
    if (known != keys.replies.end() && known->message == i) {
      expected_.push_back({i, candidates_for(message, *known, source), {}});
      ++known;
    }
    expect_lookalikes(message.content);
  }
}

// Text inside a message that looks as if a reply began there.
void Replay::expect_lookalikes(std::string_view text) {
  for (auto count = occurrences(text, memo_.rules().opening()); count > 0; --count) {
    expected_.push_back({request_.messages.size(), {}, {}});
  }
}

bool Replay::restore_reasoning(std::vector<common_chat_msg>& messages) {
  const auto last_user = std::ranges::find(request_.messages.rbegin(), request_.messages.rend(),
                                           Role::user, &ChatMessage::role);
  const auto loop_begin = static_cast<std::size_t>(request_.messages.rend() - last_user);
  bool any = false;
  for (Expected& expected : expected_) {
    if (expected.message < loop_begin || expected.candidates.empty()) continue;
    if (!trimmed(request_.messages[expected.message].reasoning).empty()) continue;
    // A cut reply comes back with what its client has of it.
    const SampledReply& reply = *expected.candidates.front();
    if (!reply.closed || trimmed(reply.reasoning).empty()) continue;
    messages.at(expected.message).reasoning_content = reply.reasoning;
    expected.restored = trimmed(reply.reasoning);
    any = true;
  }
  return any;
}

bool Replay::append(std::string_view piece, Tokens& tokens) {
  if (expected_.empty() || !piece.starts_with(memo_.rules().opening())) return false;
  if (next_ == expected_.size()) return false;
  const Expected& expected = expected_[next_++];
  if (!expected.restored.empty() && piece.find(expected.restored) != std::string_view::npos) {
    ++restored_;
  }
  for (const ReplySource::Reply& reply : expected.candidates) {
    const auto known = memo_.tokens_for(piece, *reply);
    if (known == nullptr) continue;
    tokens.insert(tokens.end(), known->begin(), known->end());
    ++replayed_;
    return true;
  }
  return false;
}

}  // namespace samovar
