#include "chat/opener_probe.h"

#include <exception>
#include <optional>
#include <utility>

namespace samovar {
namespace {

common_chat_templates_inputs probe_inputs(bool with_system, bool with_tools) {
  common_chat_templates_inputs inputs;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  for (const ProbeMessage& probe : kProbeMessages) {
    if (probe.role == COMMON_CHAT_ROLE_SYSTEM && !with_system) continue;
    if (probe.role == COMMON_CHAT_ROLE_TOOL && !with_tools) continue;
    common_chat_msg message;
    message.role = common_chat_role_to_string(probe.role);
    message.content = probe.marker;
    if (probe.role == COMMON_CHAT_ROLE_TOOL) {
      inputs.messages.back().tool_calls = {{"probe", "{}", "call00001"}};
      message.tool_call_id = "call00001";
      message.tool_name = "probe";
    }
    inputs.messages.push_back(std::move(message));
  }
  if (with_tools) {
    inputs.tools = {{"probe", "A probe.", R"({"type":"object","properties":{}})"}};
  }
  return inputs;
}

std::optional<common_chat_params> try_render(const common_chat_templates* templates,
                                             const common_chat_templates_inputs& inputs) {
  try {
    return common_chat_templates_apply(templates, inputs);
  } catch (const std::exception&) {
    return std::nullopt;  // a template may refuse a role; other probes remain
  }
}

}  // namespace

std::vector<common_chat_params> render_probes(const common_chat_templates* templates) {
  std::vector<common_chat_params> renderings;
  for (const bool with_tools : {false, true}) {
    for (const bool with_system : {true, false}) {
      auto rendering = try_render(templates, probe_inputs(with_system, with_tools));
      if (!rendering) continue;
      renderings.push_back(std::move(*rendering));
      break;
    }
  }
  return renderings;
}

}  // namespace samovar
