#include "explain/rendered_place.h"

#include <algorithm>

namespace samovar {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \n\t\r\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

constexpr std::size_t kSchemaFrame = 64;  // bytes around a schema, and spaces in it

constexpr std::size_t kFrameReach = 16'384;  // what a template writes of its own

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// From the first tool's name to the end of the last one's: templates write schemas in their own
// way, but every one of them shows the names.
std::optional<Span> tools_span(std::string_view rendered, const ChatRequest& request) {
  std::optional<Span> span;
  std::size_t cursor = 0;
  for (const Tool& tool : request.tools) {
    std::size_t at = rendered.find("\"" + tool.name + "\"", cursor);
    if (at == std::string_view::npos) at = rendered.find(tool.name, cursor);
    if (at == std::string_view::npos) continue;
    if (!span) span = Span{at, at};
    cursor = at + tool.name.size();
    const std::string_view description = trimmed(tool.description);
    const std::size_t described = rendered.find(description, cursor);
    if (described != std::string_view::npos) cursor = described + description.size();
    span->end = cursor + tool.parameters.size() + kSchemaFrame;
  }
  if (!span) return span;
  // The line in which the list begins belongs to it: it opens the first tool.
  const std::size_t line = rendered.rfind('\n', span->begin);
  span->begin = line == std::string_view::npos ? 0 : line + 1;
  span->end = std::min(span->end, rendered.size());
  return span;
}

}  // namespace

RenderedPlace place_of(std::size_t byte, std::string_view rendered, const ChatRequest& request) {
  RenderedPlace place;
  const auto tools = tools_span(rendered, request);
  place.in_tools = tools && byte >= tools->begin && byte < tools->end;
  std::size_t cursor = 0;
  std::size_t found = 0;  // the last message of which a text was found
  std::size_t skipped = tools ? tools->end - tools->begin : 0;  // bytes of what was not found since
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const ChatMessage& message = request.messages[i];
    const std::pair<const char*, std::string_view> fields[] = {{"reasoning", message.reasoning},
                                                               {"content", message.content}};
    for (const auto& [name, whole] : fields) {
      const std::string_view text = trimmed(whole);
      if (text.empty()) continue;
      // Not further than what was skipped can reach, escaped: or each text that the template does
      // not show would be looked for up to the end.
      const std::size_t reach = text.size() + 2 * skipped + kFrameReach;
      const std::size_t in_window = rendered.substr(cursor, reach).find(text);
      if (in_window == std::string_view::npos) {
        skipped += text.size();
        continue;
      }
      const std::size_t at = cursor + in_window;
      if (byte < at + text.size()) {
        const bool inside = byte >= at;
        place.first = inside ? i : found;
        place.last = i;
        if (inside) {
          place.field = name;
          place.in_tools = false;
        }
        return place;
      }
      cursor = at + text.size();
      found = i;
      skipped = 0;
    }
    for (const ToolCall& call : message.tool_calls) skipped += call.arguments.size();
  }
  if (!request.messages.empty()) {
    place.first = found;
    place.last = request.messages.size() - 1;
  }
  return place;
}

}  // namespace samovar
