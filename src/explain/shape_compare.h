// What differs between two turns' shapes, in the order of the prompt, and which messages they still
// share. Private to explain(). Pure; any thread; nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/turn_shape.h"

namespace samovar {

enum class Part { model, chat_template, option, tools, tool, message };

struct Difference {
  Part part = Part::message;
  std::size_t index = 0;  // of the tool or message, in the later turn
  std::string field;  // "content", "tool_calls[0].arguments", "tools[2].parameters", "role", ...
  std::string tool;   // the tool's name, for Part::tool
  bool respelled = false;  // the same but for white space, or, in JSON, the order of its parts
  bool dropped = false;    // the later turn has nothing there
  bool weak = false;       // many templates show nothing of it
  bool in_reply = false;   // lies in what the earlier turn's reply was

  // Of that field, where both texts are at hand; views of the shapes' requests.
  std::optional<std::string_view> before;
  std::optional<std::string_view> after;
};

// The message at `index` of a conversation that went on with its reply; nullptr beyond.
[[nodiscard]] const MessageShape* message_at(const TurnShape& shape, std::size_t index);

// In the order: model, template, options, tools, messages. Of the messages the first that differ,
// compared place by place, at most `kMessageDifferences` fields.
inline constexpr std::size_t kMessageDifferences = 16;
[[nodiscard]] std::vector<Difference> differences(const TurnShape& before, const TurnShape& after);

// How the messages of both go on from place `from`, where they differ.
struct Alignment {
  std::vector<bool> shared;  // for each message of the later turn: the earlier one had it too
  std::size_t lost = 0;      // messages of the earlier turn that the later one has nowhere
  std::size_t fresh = 0;     // messages of the later turn, from `from` on, that are new
};
[[nodiscard]] Alignment align(const TurnShape& before, const TurnShape& after, std::size_t from);

}  // namespace samovar
