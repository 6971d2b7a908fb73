#include "chat/late_system.h"

#include <exception>
#include <string>
#include <utility>

namespace samovar {
namespace {

bool is_system(const common_chat_msg& message) {
  return message.role == "system" || message.role == "developer";
}

std::string as_reminder(const std::string& text) {
  return "<system-reminder>\n" + text + "\n</system-reminder>";
}

common_chat_msg make(const char* role, const char* content) {
  common_chat_msg message;
  message.role = role;
  message.content = content;
  return message;
}

}  // namespace

bool takes_late_system(const common_chat_templates* templates) {
  constexpr const char* kMarker = "late-system-marker";
  common_chat_templates_inputs inputs;
  inputs.messages = {make("system", "a"), make("user", "b"), make("system", kMarker)};
  try {
    const std::string text = common_chat_templates_apply(templates, inputs).prompt;
    return text.find(kMarker) != std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

void fold_late_system(std::vector<common_chat_msg>& messages) {
  std::vector<common_chat_msg> folded;
  folded.reserve(messages.size());
  for (common_chat_msg& message : messages) {
    if (folded.empty() || !is_system(message)) {
      folded.push_back(std::move(message));
      continue;
    }
    common_chat_msg& before = folded.back();
    if (is_system(before)) {
      before.content += "\n\n" + message.content;
    } else if (before.role == "assistant") {
      folded.push_back(make("user", ""));
      folded.back().content = as_reminder(message.content);
    } else {
      before.content += "\n\n" + as_reminder(message.content);
    }
  }
  messages = std::move(folded);
}

}  // namespace samovar
