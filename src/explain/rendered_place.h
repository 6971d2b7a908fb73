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
  bool in_tools = false;  // in the list of tools
  std::string field;      // "content", "reasoning"; empty: calls, or text of the template

  // The messages it may lie in: one with a field, else those between the texts that were found
  // before and behind it.
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
};

[[nodiscard]] RenderedPlace place_of(std::size_t byte, std::string_view rendered,
                                     const ChatRequest& request);

}  // namespace samovar
