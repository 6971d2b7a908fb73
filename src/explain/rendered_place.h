// Where in a rendered prompt the texts of its request lie, to say what a byte belongs to. Found by
// looking for the texts one after the other, so it works with any template that shows them as they
// are. Private to explain(). Pure; any thread; nothing fails.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/chat.h"

namespace samovar {

struct RenderedPlace {
  bool in_tools = false;               // in the list of tools
  std::optional<std::size_t> message;  // the message it lies in, or, between two, the later one
  std::string field;                   // "content", "reasoning"; empty: text of the template
};

[[nodiscard]] RenderedPlace place_of(std::size_t byte, std::string_view rendered,
                                     const ChatRequest& request);

}  // namespace samovar
