#include "chat/template_splice.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "chat/template_inputs.h"

namespace samovar {
namespace {

// Ends the stand-in conversation; what follows it in the text is what is wanted.
constexpr std::string_view kMarker = "k7Qx0standin";

bool is_system(const common_chat_msg& message) {
  return message.role == "system" || message.role == "developer";
}

// Some templates take a user message in tool results' clothes for one.
bool is_user(const common_chat_msg& message) {
  return message.role == "user" && message.content.find("tool_response") == std::string::npos;
}

bool is_reply(const common_chat_msg& message) {
  return message.role == "assistant" && message.tool_calls.empty();
}

bool is_call(const common_chat_msg& message) {
  return message.role == "assistant" && !message.tool_calls.empty();
}

bool is_loop(const common_chat_msg& message) { return is_call(message) || message.role == "tool"; }

// The first index behind the last message for which `found` holds; 0 if there is none.
template <class Predicate>
std::size_t behind_last(ChatMessages messages, Predicate found) {
  std::size_t at = messages.size();
  while (at > 0 && !found(messages[at - 1])) --at;
  return at;
}

std::size_t system_messages(ChatMessages messages) {
  return static_cast<std::size_t>(std::ranges::find_if_not(messages, is_system) - messages.begin());
}

std::optional<std::size_t> question_cut(ChatMessages earlier, ChatMessages wanted,
                                        std::size_t shared, std::size_t first, CutRule rule) {
  std::size_t last = std::min({shared, earlier.size() - 1, wanted.size() - 1});
  if (rule.reply_follows) {
    const auto is_assistant = [](const auto& message) { return message.role == "assistant"; };
    for (const ChatMessages messages : {earlier, wanted}) {
      const std::size_t behind = behind_last(messages, is_assistant);
      if (behind == 0) return std::nullopt;
      last = std::min(last, behind - 1);
    }
  }
  for (std::size_t at = last; at >= first && at > 0; --at) {
    if (is_user(earlier[at]) && is_user(wanted[at]) && is_reply(wanted[at - 1])) return at;
  }
  return std::nullopt;
}

std::optional<std::size_t> loop_cut(ChatMessages earlier, ChatMessages wanted, std::size_t shared,
                                    std::size_t first) {
  const auto outside = [](const common_chat_msg& message) { return !is_loop(message); };
  first = std::max({first, behind_last(earlier, outside), behind_last(wanted, outside)});
  for (std::size_t at = shared; at > first && at > 1; --at) {
    if (is_call(wanted[at - 1]) && wanted[at - 2].role == "tool") return at - 1;
  }
  return std::nullopt;
}

common_chat_msg said(const char* role, std::string_view content) {
  common_chat_msg message;
  message.role = role;
  message.content = content;
  return message;
}

std::vector<common_chat_msg> stand_in(ChatMessages system, bool in_loop) {
  std::vector<common_chat_msg> messages(system.begin(), system.end());
  messages.push_back(said("user", "Hello"));
  if (!in_loop) {
    messages.push_back(said("assistant", kMarker));
    return messages;
  }
  messages.push_back(said("assistant", ""));
  messages.back().tool_calls = {{"standin", "{}", "call00001"}};
  messages.push_back(said("tool", kMarker));
  messages.back().tool_call_id = "call00001";
  messages.back().tool_name = "standin";
  return messages;
}

// Text of the request that could be taken for the marker.
bool mentions_marker(const common_chat_templates_inputs& inputs, ChatMessages system) {
  const auto mentions = [](const std::string& text) {
    return text.find(kMarker) != std::string::npos;
  };
  return std::ranges::any_of(system, mentions, &common_chat_msg::content) ||
         std::ranges::any_of(inputs.tools,
                             [&](const common_chat_tool& tool) {
                               return mentions(tool.name) || mentions(tool.description) ||
                                      mentions(tool.parameters);
                             }) ||
         std::ranges::any_of(inputs.chat_template_kwargs,
                             [&](const auto& argument) { return mentions(argument.second); });
}

// Renders ends of conversations behind the stand-in that goes with one cut.
class EndRenderer {
 public:
  EndRenderer(const DirectTemplate& direct, const common_chat_templates_inputs& inputs, Cut cut)
      : direct_(direct), cut_(cut) {
    const ChatMessages messages = inputs.messages;
    const ChatMessages system = messages.first(system_messages(messages));
    usable_ = !mentions_marker(inputs, system);
    standing_in_ = with_messages(inputs, stand_in(system, cut.in_loop), cut.rule.own_tools);
    if (!cut.rule.own_tools && !inputs.tools.empty()) {
      standing_in_.tools = {{"standin", "Stands in.", R"({"type":"object","properties":{}})"}};
    }
  }

  // From the end of the stand-in's last content; nullopt if that is not in the text.
  std::optional<std::string> render(ChatMessages messages) {
    if (!usable_) return std::nullopt;
    const ChatMessages end = messages.subspan(cut_.message);
    const std::size_t kept = standing_in_.messages.size();
    standing_in_.messages.insert(standing_in_.messages.end(), end.begin(), end.end());
    std::string text = direct_.render(standing_in_);
    standing_in_.messages.resize(kept);
    const std::size_t marker = text.find(kMarker);
    if (marker == std::string::npos) return std::nullopt;
    return text.erase(0, marker + kMarker.size());
  }

 private:
  const DirectTemplate& direct_;
  Cut cut_;
  bool usable_ = false;
  common_chat_templates_inputs standing_in_;
};

const RenderedConversation::Boundary* known_boundary(const RenderedConversation& conversation,
                                                     std::size_t message) {
  const auto found =
      std::ranges::find(conversation.boundaries, message, &RenderedConversation::Boundary::message);
  return found == conversation.boundaries.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Cut> find_cut(ChatMessages earlier, ChatMessages wanted, std::size_t shared,
                            const SpliceRules& rules) {
  if (earlier.empty() || wanted.empty() || shared == 0) return std::nullopt;
  // Behind every system message, because templates may gather them at the top, and behind a user
  // message, because templates may treat the first one differently.
  std::size_t first = std::max(behind_last(earlier, is_system), behind_last(wanted, is_system));
  const auto user = std::ranges::find_if(wanted.first(shared), is_user);
  first = std::max(first, static_cast<std::size_t>(user - wanted.begin()) + 1);
  std::optional<Cut> best;
  if (rules.at_question) {
    const CutRule rule = *rules.at_question;
    if (const auto at = question_cut(earlier, wanted, shared, first, rule))
      best = {*at, false, rule};
  }
  if (rules.in_loop) {
    const auto at = loop_cut(earlier, wanted, shared, first);
    if (at && (!best || *at > best->message)) best = {*at, true, *rules.in_loop};
  }
  return best;
}

std::optional<RenderedConversation> splice(const DirectTemplate& direct,
                                           const RenderedConversation& earlier,
                                           const common_chat_templates_inputs& wanted, Cut cut) {
  EndRenderer renderer(direct, wanted, cut);
  std::size_t offset = 0;
  if (const auto* known = known_boundary(earlier, cut.message)) {
    offset = known->offset;
  } else {
    const auto old_end = renderer.render(earlier.messages);
    if (!old_end || !earlier.text.ends_with(*old_end)) return std::nullopt;
    offset = earlier.text.size() - old_end->size();
  }
  const auto new_end = renderer.render(wanted.messages);
  if (!new_end) return std::nullopt;
  RenderedConversation result;
  result.text.reserve(offset + new_end->size());
  result.text.assign(earlier.text, 0, offset).append(*new_end);
  for (const auto& boundary : earlier.boundaries) {
    if (boundary.message < cut.message) result.boundaries.push_back(boundary);
  }
  result.boundaries.push_back({cut.message, offset});
  return result;
}

std::size_t splice_cost(const RenderedConversation& earlier, ChatMessages wanted, Cut cut) {
  const std::size_t stand_ins = system_messages(wanted) + 3;
  const bool known = known_boundary(earlier, cut.message) != nullptr;
  const std::size_t again = known ? 0 : earlier.messages.size() - cut.message + stand_ins;
  return wanted.size() - cut.message + stand_ins + again;
}

}  // namespace samovar
