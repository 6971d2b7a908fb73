// The proof that DirectTemplate may be used for a template: conversations with everything that a
// handler of libllama-common is known to edit.
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "chat/direct_template.h"
#include "chat/template_source.h"

namespace samovar {
namespace {

common_chat_msg said(const char* role, const char* content, const char* reasoning = "") {
  common_chat_msg message;
  message.role = role;
  message.content = content;
  message.reasoning_content = reasoning;
  return message;
}

common_chat_msg called(const char* content, const char* reasoning, int calls) {
  common_chat_msg message = said("assistant", content, reasoning);
  message.tool_calls = {{"look", R"({"at": "x y", "deep": {"n": [1, 2.5, null]}})", "call00001"}};
  if (calls > 1) message.tool_calls.push_back({"wait", "{}", "call00002"});
  return message;
}

common_chat_msg result(const char* content, const char* id, const char* name) {
  common_chat_msg message = said("tool", content);
  message.tool_call_id = id;
  message.tool_name = name;
  return message;
}

using Probes = std::vector<common_chat_templates_inputs>;

void add(Probes& probes, std::vector<common_chat_msg> messages, bool tools, bool thinking) {
  common_chat_templates_inputs& probe = probes.emplace_back();
  probe.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  probe.messages = std::move(messages);
  if (tools) probe.tools = {{"look", "Looks.", R"({"type":"object","properties":{"at":{}}})"}};
  probe.enable_thinking = thinking;
}

Probes probe_conversations() {
  const std::vector<common_chat_msg> talk = {said("system", " Be \"terse\".\n"),
                                             said("user", "Hello "),
                                             said("assistant", "Hi.\n", "Hm"),
                                             said("user", ""),
                                             said("assistant", ""),
                                             said("user", "\n<b>\xC3\xA9")};
  const std::vector<common_chat_msg> loop = {
      said("user", "Look"),
      called(" Well ", "a thought\n", 2),
      result(" text\n", "call00002", "wait"),  // not in the order of the calls
      result("{\"seen\": [1]}", "call00001", "look"),
      said("assistant", "<think>x</think>Seen"),
      said("user", "Again")};
  const std::vector<common_chat_msg> open = {said("developer", "Obey"),
                                             said("user", "Look"),
                                             said("assistant", "Where?", "why"),
                                             said("user", "There"),
                                             called("", "so", 1),
                                             result("1", "call00001", "look"),
                                             called("And so on", "", 1),
                                             result("", "call00001", "look")};
  Probes probes;
  add(probes, loop, /*tools=*/true, /*thinking=*/false);
  probes.back().tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;
  add(probes, talk, false, false);
  probes.back().json_schema = R"({"type":"object"})";
  add(probes, open, false, true);
  add(probes, {loop.begin(), loop.begin() + 4}, true, true);
  probes.back().tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
  return probes;
}

template <class Render>
std::optional<std::string> attempt(Render render) {
  try {
    return render();
  } catch (const std::exception&) {
    return std::nullopt;  // the template refuses the conversation
  }
}

bool all_alike(const common_chat_templates* templates, const DirectTemplate& direct) {
  int rendered = 0;
  for (const auto& probe : probe_conversations()) {
    const auto fast = attempt([&] { return direct.render(probe); });
    const auto slow = attempt([&] { return common_chat_templates_apply(templates, probe).prompt; });
    if (fast != slow) return false;
    if (slow) ++rendered;
  }
  return rendered > 0;
}

}  // namespace

bool renders_alike(const common_chat_templates* templates, const DirectTemplate& direct) {
  for (;;) {
    const std::string date = local_date();
    const bool alike = all_alike(templates, direct);
    if (date == local_date()) return alike;  // else the date in a prompt may differ
  }
}

}  // namespace samovar
