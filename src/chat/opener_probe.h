// The probe conversation: a small conversation whose renderings show how a template opens messages
// and asks for a reply. Each message's content is a word that no template prints by itself.
// Pure functions; any thread. Cannot fail: a template may refuse some or all of the renderings.
#pragma once

#include <llama-common/chat.h>

#include <array>
#include <vector>

namespace samovar {

struct ProbeMessage {
  common_chat_role role;
  const char* marker;
};
inline constexpr std::array kProbeMessages{
    ProbeMessage{COMMON_CHAT_ROLE_SYSTEM, "qsystemprobeq"},
    ProbeMessage{COMMON_CHAT_ROLE_USER, "quserprobeq"},
    ProbeMessage{COMMON_CHAT_ROLE_ASSISTANT, "qreplyprobeq"},
    ProbeMessage{COMMON_CHAT_ROLE_USER, "qaskprobeq"},
    ProbeMessage{COMMON_CHAT_ROLE_ASSISTANT, "qcallprobeq"},
    ProbeMessage{COMMON_CHAT_ROLE_TOOL, "qtoolprobeq"},
};

// Without tools and with them (then with a call and its result too), as far as the template goes
// along; each with a system message unless the template refuses that.
std::vector<common_chat_params> render_probes(const common_chat_templates* templates);

}  // namespace samovar
