// The order of a request's tools. Pure; any thread; nothing fails.
#pragma once

#include "core/chat.h"

namespace samovar {

// Puts the tools in the order of their names (byte by byte; equal names stay in the client's
// order). True if that changed anything.
bool sort_tools(ChatRequest& request);

}  // namespace samovar
