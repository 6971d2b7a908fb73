// The two halves of parse_chat_request that are worth a file each, and what other dialects share
// with them. Problems are reported through
// the JsonObject; what is returned then is not used.
#pragma once

#include <string>
#include <vector>

#include "api/chat_request.h"
#include "api/json_fields.h"

namespace samovar {

// chat_messages.cc: messages (one, or all of a body), tools, tool_choice, response_format, template
// arguments, thinking.
ChatMessage read_message(const JsonObject& fields);
void read_messages(const JsonObject& body, ChatRequest& chat);
// After the tools: auto, none, required, or one of them by its name.
void read_tool_choice(const JsonObject& body, ChatRequest& chat);
void read_tools(const JsonObject& body, ChatRequest& chat);
void read_response_format(const JsonObject& body, ChatRequest& chat);
void read_template_arguments(const JsonObject& body, ChatRequest& chat);

// chat_sampling.cc: everything that chooses tokens, and where the reply ends.
// read_samplers: all of read_sampling but the log probabilities.
void read_samplers(const JsonObject& body, int vocab_size, SamplingParams& sampling);
void read_sampling(const JsonObject& body, int vocab_size, SamplingParams& sampling);
void read_stop(const JsonObject& body, std::vector<std::string>& stop,
               const std::string& name = "stop");

// Fields of other servers that would change the reply's meaning if they were passed over in silence
// (chat_request.cc).
void refuse_foreign_fields(const JsonObject& body);

// How to reply: everything but the conversation (chat_request.cc). Defaults first.
void read_reply_options(const JsonObject& fields, const ChatDefaults& defaults,
                        DialectRequest& request);

// stream_options and return_progress (chat_request.cc).
[[nodiscard]] StreamExtras read_stream_extras(const JsonObject& fields);

}  // namespace samovar
