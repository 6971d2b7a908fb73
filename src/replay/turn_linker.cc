#include "replay/turn_linker.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "replay/chat_json.h"
#include "replay/trace_fields.h"

namespace samovar::replay {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void put(const std::string& part, std::string& text) {
  const std::uint64_t size = part.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof size);
  text += part;
}

// Hash of the messages up to each one.
std::vector<Checksum> prefixes_of(const std::vector<ChatMessage>& messages) {
  std::vector<Checksum> prefixes;
  prefixes.reserve(messages.size());
  Checksum last;
  for (const ChatMessage& message : messages) {
    std::string text(reinterpret_cast<const char*>(&last), sizeof last);
    for (const std::string* part :
         {&message.content, &message.reasoning, &message.tool_call_id, &message.name}) {
      put(*part, text);
    }
    text += to_string(message.role);
    for (const ToolCall& call : message.tool_calls) {
      for (const std::string* part : {&call.id, &call.name, &call.arguments}) put(*part, text);
    }
    last = checksum(bytes_of(text));
    prefixes.push_back(last);
  }
  return prefixes;
}

// How many messages both begin with. Hashes of prefixes: equal up to a place and never again.
std::size_t common(const std::vector<Checksum>& a, const std::vector<Checksum>& b) {
  std::size_t low = 0;
  std::size_t high = std::min(a.size(), b.size());
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (a[middle - 1] == b[middle - 1]) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

bool same_arguments(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (is_deeper(a, kJsonDepthMax) || is_deeper(b, kJsonDepthMax)) return false;
  const auto left = nlohmann::json::parse(a, nullptr, false);
  const auto right = nlohmann::json::parse(b, nullptr, false);
  return !left.is_discarded() && left == right;
}

bool same_calls(const std::vector<ToolCall>& a, const std::vector<ToolCall>& b) {
  return std::ranges::equal(a, b, [](const ToolCall& x, const ToolCall& y) {
    return x.id == y.id && x.name == y.name && same_arguments(x.arguments, y.arguments);
  });
}

std::size_t up_to_first_user(const std::vector<ChatMessage>& messages) {
  const auto user = std::ranges::find(messages, Role::user, &ChatMessage::role);
  return static_cast<std::size_t>(user - messages.begin()) + 1;
}

WaitKind wait_kind(const std::vector<ChatMessage>& messages) {
  const bool tool = std::ranges::count(messages, Role::tool, &ChatMessage::role) > 0;
  return tool ? WaitKind::tool : WaitKind::think;
}

}  // namespace

Returned returns(const ChatMessage& message, const TraceReply& reply) {
  const ChatMessage& said = reply.message;
  if (message.role != Role::assistant || !same_calls(message.tool_calls, said.tool_calls)) {
    return Returned::no;
  }
  const std::string_view content = trimmed(message.content);
  const std::string_view whole = trimmed(said.content);
  const bool part = reply.cut && !content.empty() && whole.starts_with(content);
  if (content != whole && !part) return Returned::no;
  const std::string_view reasoning = trimmed(message.reasoning);
  if (reasoning == trimmed(said.reasoning)) return Returned::whole;
  return reasoning.empty() ? Returned::without_reasoning : Returned::no;
}

TurnLinker::Place TurnLinker::find(const WholeTurn& turn,
                                   const std::vector<Checksum>& prefixes) const {
  Place best;
  std::size_t most = 1;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const Seen& seen : seen_) {
    // A request that was made before a reply had ended does not follow it, unless it is why the
    // reply ended.
    const bool cut = seen.reply && seen.reply->cut;
    if (seen.ended_ms > turn.arrived_ms && !cut) continue;
    Place place{&seen, common(prefixes, seen.prefixes), Returned::no};
    const bool same_session = !turn.session.empty() && turn.session == seen.session;
    if (place.keep == 0 || (place.keep < seen.first_user && !same_session)) continue;
    if (place.keep == seen.prefixes.size() && prefixes.size() > place.keep && seen.reply) {
      place.returned = returns(turn.request->messages[place.keep], *seen.reply);
    }
    const std::size_t kept = place.keep + (place.returned == Returned::no ? 0 : 1);
    // Of several that share as much, the one that has least besides: the request goes on there.
    const std::size_t besides = seen.prefixes.size() - place.keep;
    if (kept < most || (kept == most && besides >= least)) continue;
    most = kept;
    least = besides;
    best = place;
  }
  return best;
}

TraceTurn TurnLinker::link(WholeTurn turn) {
  const std::vector<ChatMessage>& messages = turn.request->messages;
  std::vector<Checksum> prefixes = prefixes_of(messages);
  const Place place = find(turn, prefixes);
  const Checksum tools = checksum(bytes_of(tools_text(turn.request->tools)));
  const Checksum settings = checksum(bytes_of(settings_text(turn.settings)));

  TraceTurn line;
  line.id = turn.id;
  line.session = turn.session;
  line.dialect = std::move(turn.dialect);
  line.at_ms = turn.arrived_ms;
  line.streamed = turn.streamed;
  line.reply = turn.reply;
  line.figures = std::move(turn.figures);
  line.keep = place.keep;
  line.returned = place.returned;
  const std::size_t known = place.keep + (place.returned == Returned::no ? 0 : 1);
  line.messages.assign(messages.begin() + static_cast<std::ptrdiff_t>(known), messages.end());
  if (place.seen != nullptr) {
    line.after = place.seen->id;
    line.wait_ms = std::max<std::int64_t>(0, turn.arrived_ms - place.seen->ended_ms);
    line.wait = wait_kind(line.messages);
  }
  if (place.seen == nullptr || tools != place.seen->tools) line.tools = turn.request->tools;
  if (place.seen == nullptr || settings != place.seen->settings) line.settings = turn.settings;
  remember({.id = std::move(turn.id),
            .session = std::move(turn.session),
            .ended_ms = turn.ended_ms,
            .prefixes = std::move(prefixes),
            .first_user = up_to_first_user(messages),
            .reply = std::move(turn.reply),
            .tools = tools,
            .settings = settings});
  return line;
}

void TurnLinker::remember(Seen seen) {
  messages_ += seen.prefixes.size();
  seen_.push_front(std::move(seen));
  while (seen_.size() > 1 && (seen_.size() > limits_.turns || messages_ > limits_.messages)) {
    messages_ -= seen_.back().prefixes.size();
    seen_.pop_back();
  }
}

void TurnLinker::forget() {
  seen_.clear();
  messages_ = 0;
}

}  // namespace samovar::replay
