// TurnShape: what is kept of a turn so that a later one can be compared with it: hashes and sizes
// of every message, tool and option, and where in the prompt they lie. Some 35 bytes a message when
// encoded (shape_codec.h). The texts and tokens themselves are optional and never encoded: with
// them an explanation is exact to the token and shows old and new text, without them it still names
// message, field and class. Values; pure functions; any thread; nothing fails.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "core/chat.h"
#include "core/prompt.h"
#include "core/tokens.h"

namespace samovar {

// What is kept of one text. An empty text is all zeros.
struct TextPrint {
  Checksum exact;           // of its bytes
  std::uint64_t loose = 0;  // the same for texts that differ in spelling only: see the makers
  std::uint32_t bytes = 0;

  [[nodiscard]] bool empty() const { return bytes == 0; }
  bool operator==(const TextPrint&) const = default;
};

// `loose` passes over white space.
[[nodiscard]] TextPrint print_of(std::string_view text);

// Of JSON text; `loose` passes over white space outside strings and over the order of what the text
// is made of, so that sorted keys and other spacing make no difference to it.
[[nodiscard]] TextPrint print_of_json(std::string_view text);

struct CallShape {
  TextPrint name;
  TextPrint arguments;  // print_of_json
  TextPrint id;
  bool operator==(const CallShape&) const = default;
};

struct MessageShape {
  Role role = Role::user;
  TextPrint content;
  TextPrint reasoning;
  TextPrint name;
  TextPrint call_id;  // tool only: the call it answers
  std::vector<CallShape> calls;

  // The same for messages that say the same: role, content and calls, without reasoning, ids and
  // spelling.
  [[nodiscard]] std::uint64_t identity() const;
  [[nodiscard]] std::uint64_t bytes() const;  // of all its texts
  bool operator==(const MessageShape&) const = default;
};

[[nodiscard]] MessageShape shape_of(const ChatMessage& message);

struct ToolShape {
  std::string name;  // at most kToolNameBytes of it
  TextPrint description;
  TextPrint parameters;  // print_of_json
  bool operator==(const ToolShape&) const = default;
};
inline constexpr std::size_t kToolNameBytes = 128;

// What a template may look at besides messages and tools.
struct OptionShape {
  std::string name;  // "enable_thinking", "chat_template_kwargs.x", "tool_choice", ...
  std::uint64_t value = 0;
  bool weak = false;  // few templates show it: blamed only if nothing else explains a difference
  bool operator==(const OptionShape&) const = default;
};

struct ReplyShape {
  MessageShape message;
  Position tokens = 0;   // sampled; 0: there was none
  bool complete = true;  // false: cut by a disconnect, a new message, a crash, a shutdown
  bool operator==(const ReplyShape&) const = default;
};

struct TurnShape {
  std::string turn_id;        // as clients know it
  std::uint64_t session = 0;  // of the session key; 0: it sent none
  std::string model;          // a name or fingerprint: another one is another model
  std::uint64_t chat_template = 0;
  std::optional<bool> keeps_reasoning;  // whether the template shows reasoning of earlier turns

  std::vector<OptionShape> options;  // by name
  std::vector<ToolShape> tools;
  std::vector<MessageShape> messages;

  Position prompt_tokens = 0;
  Position system_end = 0;   // as in Prompt
  Position history_end = 0;  // Prompt::primer_start
  std::vector<Position> message_starts;
  bool estimated = false;  // there was no tokeniser: every position is a guess from bytes

  std::optional<ReplyShape> reply;  // nullopt: not known (yet)

  // Only in memory.
  std::shared_ptr<const ChatRequest> request;
  std::shared_ptr<const std::string> rendered;
  std::shared_ptr<const ChatMessage> reply_text;
  std::shared_ptr<const Tokens> tokens;  // of the prompt; may go on with those of the reply
};

struct ShapeOrigin {
  std::string turn_id;
  std::string session_key;
  std::string model;
  std::string template_id;  // anything that tells two templates apart, such as the source
  std::optional<bool> keeps_reasoning;
};

// Keeps no text. The tokens of `prompt` are not kept either (TurnShape::tokens).
[[nodiscard]] TurnShape make_shape(const ChatRequest& request, const Prompt& prompt,
                                   const ShapeOrigin& origin);

// Where no model is at hand: positions are guessed at four bytes a token.
[[nodiscard]] TurnShape guess_shape(const ChatRequest& request, const ShapeOrigin& origin);

void add_reply(TurnShape& shape, const ChatMessage& reply, Position tokens, bool complete);

// Where each message of `shape` begins in its prompt, and as last element where the last one ends.
// Exact where message starts can be told apart, else in proportion to the messages' bytes.
[[nodiscard]] std::vector<Position> message_positions(const TurnShape& shape);

}  // namespace samovar
