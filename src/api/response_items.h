// The items of a response: what its blocks look like in `output`, in the events of a stream and
// when they come back as input. JSON is written by hand, as for every event. Pure; any thread;
// nothing fails.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat_path.h"
#include "api/reply_dialect.h"
#include "core/tokens.h"

namespace samovar {

// How reasoning is shown.
struct ReasoningForm {
  bool summary = false;    // as the item's summary, because one was asked for; else as its content
  bool encrypted = false;  // and as encrypted_content, for clients that keep the conversation
};

// "resp_X" and block 2 give "msg_X_2": an item names its response.
[[nodiscard]] std::string item_id(std::string_view response, ReplyBlock::Kind kind,
                                  std::size_t index);

// "resp_X" of "msg_X_2"; empty if `item` is no such id.
[[nodiscard]] std::string response_of_item(std::string_view item);

// `status`: in_progress, completed or incomplete. `logprobs`: a JSON array; of text only.
[[nodiscard]] std::string item_json(const ReplyBlock& block, std::string_view id,
                                    std::string_view status, ReasoningForm form,
                                    std::string_view logprobs = "[]");

// The part that holds the text of reasoning or of a message.
[[nodiscard]] std::string part_json(ReplyBlock::Kind kind, std::string_view text,
                                    ReasoningForm form, std::string_view logprobs = "[]");

// A message as blocks: reasoning, text, calls.
[[nodiscard]] std::vector<ReplyBlock> blocks_of(const ChatMessage& message);

// encrypted_content: not encrypted, because whoever has it asked for the text itself.
[[nodiscard]] std::string encode_reasoning(std::string_view text);
// nullopt: another server's.
[[nodiscard]] std::optional<std::string> decode_reasoning(std::string_view encrypted);

// Of `tokens` those whose bytes make up `text`, where it first stands in what they say; all if it
// does not.
[[nodiscard]] std::span<const Sampled> tokens_of_text(std::span<const Sampled> tokens,
                                                      std::string_view text, const ChatPath& chat);

// How many of the reply's tokens have a byte of its reasoning in them. 0 where that cannot be told:
// the tokens are not known, or the format's parser changed the text.
[[nodiscard]] Position reasoning_tokens(TokenSpan reply, std::span<const ReplyBlock> blocks,
                                        const ChatPath& chat);

}  // namespace samovar
