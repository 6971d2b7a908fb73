// A whole reply's text to the message a client gets. Pure function; any thread. Cannot fail: what
// the format's parser rejects is content.
#pragma once

#include <memory>
#include <string_view>

#include "core/chat.h"

namespace samovar {

class ReplySyntax;

// Calls have no ids.
ChatMessage read_whole_reply(std::shared_ptr<const ReplySyntax> syntax, std::string_view text);

}  // namespace samovar
