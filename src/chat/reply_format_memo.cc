#include "chat/reply_format_memo.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "chat/template_inputs.h"

namespace samovar {
namespace {

constexpr std::size_t kEntriesMax = 16;  // agents with different tools at the same time

// Everything of `inputs` but the messages, each part with its length, and how they end.
std::string key_of(const common_chat_templates_inputs& inputs) {
  std::string key =
      fmt::format("{} {} {} {} {} {}", inputs.messages.back().role,
                  static_cast<int>(inputs.tool_choice), static_cast<int>(inputs.reasoning_format),
                  inputs.parallel_tool_calls, inputs.enable_thinking, inputs.add_generation_prompt);
  append_key(key, inputs.json_schema);
  append_key(key, inputs);
  return key;
}

std::vector<common_chat_msg> minimal_conversation(bool ends_with_tool) {
  std::vector<common_chat_msg> messages(1);
  messages[0].role = "user";
  messages[0].content = "Hello";
  if (ends_with_tool) {
    messages.resize(3);
    messages[1].role = "assistant";
    messages[1].tool_calls = {{"probe", "{}", "call00001"}};
    messages[2].role = "tool";
    messages[2].content = "1";
    messages[2].tool_call_id = "call00001";
    messages[2].tool_name = "probe";
  }
  return messages;
}

}  // namespace

std::shared_ptr<const ReplyFormat> ReplyFormatMemo::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->format;
}

std::shared_ptr<const ReplyFormat> ReplyFormatMemo::get(
    const common_chat_templates_inputs& inputs) {
  const std::string& last = inputs.messages.back().role;
  if (last != "user" && last != "tool") return nullptr;
  std::string key = key_of(inputs);
  if (auto known = find(key)) return known;
  std::shared_ptr<const ReplyFormat> format;
  try {
    const auto minimal = with_messages(inputs, minimal_conversation(last == "tool"));
    format = make(common_chat_templates_apply(templates_, minimal), inputs.json_schema);
  } catch (const std::exception&) {
    return nullptr;  // the whole conversation shows what is wrong, if anything
  }
  const std::lock_guard lock(mutex_);
  entries_.push_front({std::move(key), format});
  if (entries_.size() > kEntriesMax) entries_.pop_back();
  return format;
}

std::shared_ptr<const ReplyFormat> ReplyFormatMemo::make(const common_chat_params& params,
                                                         const std::string& json_schema) {
  return std::make_shared<const ReplyFormat>(
      make_reply_format(vocab_, syntaxes_, params, json_schema));
}

}  // namespace samovar
