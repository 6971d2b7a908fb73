#include "replay/turn_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace samovar::replay {
namespace {

constexpr std::size_t kShownMax = 40;  // bytes of a difference on each side

std::optional<double> timing(const bench::Answer& answer, const char* name) {
  const auto found = answer.timings.find(name);
  if (found == answer.timings.end()) return std::nullopt;
  return found->second;
}

// "class" of "class; tokens=12".
std::string miss_class(const bench::Answer& answer) {
  std::string miss =
      !answer.miss_class.empty() ? answer.miss_class : answer.miss.substr(0, answer.miss.find(';'));
  if (miss == "none" || miss == "first_turn") miss.clear();
  return miss;
}

std::string said(const ChatMessage& message) {
  std::string text = message.reasoning + "\x1F" + message.content;
  for (const ToolCall& call : message.tool_calls) {
    text += "\x1F" + call.name + "\x1F" + call.arguments;
  }
  return text;
}

// A part of a text for one line.
std::string shown(std::string_view text, std::size_t at) {
  std::string part(text.substr(at, kShownMax));
  for (char& byte : part) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code >= 0x7F) byte = byte == '\n' ? ' ' : '?';
  }
  return part;
}

}  // namespace

const char* to_string(TurnOutcome outcome) {
  switch (outcome) {
    case TurnOutcome::left_out:
      return "left_out";
    case TurnOutcome::failed:
      return "failed";
    case TurnOutcome::whole:
      return "whole";
    case TurnOutcome::cut:
      return "cut";
  }
  return "failed";
}

const char* to_string(Sameness sameness) {
  switch (sameness) {
    case Sameness::not_compared:
      return "not_compared";
    case Sameness::equal:
      return "equal";
    case Sameness::differs:
      return "differs";
    case Sameness::after_difference:
      return "after_difference";
  }
  return "not_compared";
}

TurnResult read_answer(const bench::Answer& answer) {
  TurnResult result;
  result.error = answer.error;
  result.outcome = answer.error ? TurnOutcome::failed
                   : answer.cut ? TurnOutcome::cut
                                : TurnOutcome::whole;
  result.reply.content = answer.content;
  result.reply.reasoning = answer.reasoning;
  for (const bench::AnswerCall& call : answer.calls) {
    result.reply.tool_calls.push_back({call.id, call.name, call.arguments});
  }
  result.finish = answer.finish;
  result.queue = timing(answer, "queue_ms");
  result.render = timing(answer, "render_ms");
  result.restore = timing(answer, "restore_ms");
  result.prefill = answer.figures.prefill_ms;
  result.decode = answer.figures.decode_ms;
  result.first = answer.first_ms();
  if (!answer.error) result.total = answer.total_ms();
  result.prompt = answer.figures.prompt_tokens;
  result.reused = answer.figures.reused_tokens;
  result.computed = answer.figures.computed_tokens;
  result.replied = answer.figures.reply_tokens;
  if (!result.computed && result.prompt && result.reused) {
    result.computed = *result.prompt - *result.reused;
  }
  result.miss = miss_class(answer);
  return result;
}

void count_fresh(const Followed& followed, const bench::Answer& answer, TurnResult& result) {
  const TurnResult* before = followed.before;
  if (before == nullptr) {
    result.fresh = result.prompt;
  } else if (followed.extends && !followed.reasoning_may_go && result.prompt && before->prompt) {
    if (!followed.returned) {
      result.fresh = *result.prompt - *before->prompt;
    } else if (before->replied) {
      // The last token of a reply is sampled, and not computed.
      result.fresh = *result.prompt - *before->prompt - *before->replied + 1;
    }
    if (result.fresh) result.fresh = std::clamp<std::int64_t>(*result.fresh, 1, *result.prompt);
  }
  if (result.fresh && result.computed) {
    result.beyond = std::max<std::int64_t>(0, *result.computed - *result.fresh);
  } else if (!result.fresh && answer.lost) {
    result.beyond = *answer.lost;
    result.beyond_by_server = true;
  }
}

void compare(const TurnResult& first, TurnResult& result) {
  const std::string a = said(first.reply);
  const std::string b = said(result.reply);
  const bool cut = first.outcome == TurnOutcome::cut || result.outcome == TurnOutcome::cut;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  // Of two cut replies one goes on where the other ends.
  const bool same = cut ? at == std::min(a.size(), b.size())
                        : at == a.size() && at == b.size() && first.finish == result.finish;
  result.sameness = same ? Sameness::equal : Sameness::differs;
  if (same) return;
  const std::size_t from = at - std::min<std::size_t>(at, 10);
  result.difference =
      fmt::format("at byte {}: \"{}\" became \"{}\"", at, shown(a, from), shown(b, from));
}

}  // namespace samovar::replay
