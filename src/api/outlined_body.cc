#include "api/outlined_body.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/limits.h"

namespace samovar {
namespace {

// nullptr if the element has a problem.
std::shared_ptr<const ParsedMessages> parse_element(std::string_view text,
                                                    OutlinedBody::Reader read) {
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    Problem problem;
    auto messages = std::make_shared<const ParsedMessages>(read(JsonObject(json, "", problem)));
    return problem.found() ? nullptr : messages;
  } catch (const nlohmann::ordered_json::exception&) {
    return nullptr;
  }
}

// The body without what stands in its messages, parsed; nullopt if that is no JSON.
std::optional<nlohmann::ordered_json> parse_rest(std::string_view body, const JsonOutline& outline,
                                                 std::string_view member) {
  std::string rest(body.substr(0, outline.messages_begin));
  rest += body.substr(outline.messages_end);
  nlohmann::ordered_json json;
  if (!parse_json_body(rest, json)) return std::nullopt;
  const auto messages = json.find(member);
  const bool sound = messages != json.end() && messages->is_array() && messages->empty();
  return sound ? std::optional(std::move(json)) : std::nullopt;
}

}  // namespace

OutlinedBody::OutlinedBody(JsonOutline outline, nlohmann::ordered_json rest)
    : outline_(std::move(outline)),
      rest_(std::make_shared<const nlohmann::ordered_json>(std::move(rest))) {}

std::optional<OutlinedBody> OutlinedBody::of(std::string_view body, std::string_view member) {
  if (body.size() > limits::body_bytes_max) return std::nullopt;
  auto outline = outline_json(body, member);
  if (!outline || !outline->has_messages || outline->messages.empty() ||
      outline->messages.size() > limits::messages_max) {
    return std::nullopt;
  }
  auto rest = parse_rest(body, *outline, member);
  if (!rest) return std::nullopt;
  return OutlinedBody(std::move(*outline), std::move(*rest));
}

bool OutlinedBody::read_messages(MessageMemo& memo, Reader read,
                                 std::vector<ChatMessage>& messages) const {
  messages.reserve(messages.size() + outline_.messages.size());
  for (const std::string_view text : outline_.messages) {
    auto parsed = memo.find(text);
    if (parsed == nullptr) {
      parsed = parse_element(text, read);
      if (parsed == nullptr) return false;
      memo.add(text, parsed);
    }
    messages.insert(messages.end(), parsed->begin(), parsed->end());
  }
  return true;
}

}  // namespace samovar
