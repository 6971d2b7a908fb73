// The parts of parse_responses_request that are worth a file each. Problems are reported through
// the JsonObject; what is returned then is not used.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "api/json_fields.h"
#include "api/responses_request.h"

namespace samovar {

// --- responses_input.cc ---

// One item as the message that it is or is a part of: a reply comes as one item for its reasoning,
// one for its text and one for every call. Reports unreadable reasoning to `left_out`.
struct InputItem {
  enum class Kind { message, reasoning, call, output };
  Kind kind = Kind::message;
  ChatMessage message;
};
[[nodiscard]] InputItem read_input_item(const JsonObject& item, std::vector<std::string>& left_out);

// Of an item that read_input_item() made: what it was.
[[nodiscard]] InputItem::Kind kind_of(const ChatMessage& message);

// Adds it to the conversation, to the reply that it belongs to if it does.
void add_input_item(InputItem item, std::vector<ChatMessage>& messages);

// `instructions` and the system messages at the beginning as one, which is what templates take.
void join_system_messages(const std::string& instructions, std::vector<ChatMessage>& messages);

// All items of an array, with item references looked up in `history`, which may be null.
void read_input_items(const nlohmann::ordered_json& list, const std::string& path, Problem& problem,
                      const ResponseHistory* history, ResponsesRequest& request);

// --- responses_settings.cc ---

// Everything but the conversation, ResponsesRequest::settings included. Returns the instructions.
[[nodiscard]] std::string read_response_settings(const JsonObject& body,
                                                 const ChatDefaults& defaults,
                                                 ResponsesRequest& request);

// --- responses_tools.cc ---

// tools, tool_choice, parallel_tool_calls. `kept` gets the tools that are in force, as they came.
void read_response_tools(const JsonObject& body, ResponsesRequest& request,
                         nlohmann::ordered_json& kept);

}  // namespace samovar
