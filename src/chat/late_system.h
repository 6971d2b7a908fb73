// System messages that come after the first message: Claude Code describes its environment in one
// behind the first question. Many templates refuse them. There they become a part of the message
// before them, set off as a reminder: so they keep their place and the prefix before them, and
// which message is the last question, after which reasoning stays in the prompt, does not change.
// Pure functions; any thread.
#pragma once

#include <llama-common/chat.h>

#include <vector>

namespace samovar {

// Whether the template renders them itself.
[[nodiscard]] bool takes_late_system(const common_chat_templates* templates);

// Further system messages at the beginning join the first; later ones the message of a user or tool
// before them, or, behind a reply, become a user's.
void fold_late_system(std::vector<common_chat_msg>& messages);

}  // namespace samovar
