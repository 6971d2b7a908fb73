// Finds the tokens with which a reply of the model begins: those of the generation primer, as few
// as no other message begins with ("<|im_start|>" "assistant", or "<|assistant|>" alone), and no
// more than the replies in the history begin with too. Once per model; pure function; cannot fail.
#pragma once

#include <llama-common/chat.h>

#include <vector>

#include "chat/message_openers.h"

namespace samovar {

// `renderings` are those of render_probes(). Empty if nothing with an opener follows
// the last message.
Tokens find_reply_opening(const llama_vocab* vocab, const MessageOpeners& openers,
                          const std::vector<common_chat_params>& renderings);

}  // namespace samovar
