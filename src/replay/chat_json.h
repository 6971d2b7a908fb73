// Messages, tools and settings as chat completions spell them, both ways: in a trace's lines, in
// the logs of others, in the requests of a replay. The same values give the same bytes. Pure; any
// thread. Text that is JSON already (schemas, template arguments) is put in as it is if it parses
// and leaves the whole readable by parse_object(), as a string if not.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/chat.h"
#include "replay/trace.h"
#include "replay/trace_fields.h"

namespace samovar::replay {

[[nodiscard]] nlohmann::ordered_json message_json(const ChatMessage& message);
[[nodiscard]] nlohmann::ordered_json tools_json(const std::vector<Tool>& tools);

// Adds the fields of a request body.
void put_settings(const TraceSettings& settings, nlohmann::ordered_json& body);

// The body of a streamed chat completion. `session`: prompt_cache_key; empty: none.
[[nodiscard]] std::string completion_body(const std::vector<ChatMessage>& messages,
                                          const std::vector<Tool>& tools,
                                          const TraceSettings& settings, const std::string& model,
                                          const std::string& session);

// What cannot be read is a trouble; parts of a content that are no text are left out and counted.
[[nodiscard]] ChatMessage read_message(const Fields& fields, int* left_out = nullptr);
[[nodiscard]] std::vector<ChatMessage> read_messages(const Fields& fields, const char* name,
                                                     int* left_out = nullptr);
[[nodiscard]] std::vector<Tool> read_tools(const Fields& fields);
[[nodiscard]] TraceSettings read_settings(const Fields& fields);

// One text for equal values, for comparing.
[[nodiscard]] std::string settings_text(const TraceSettings& settings);
[[nodiscard]] std::string tools_text(const std::vector<Tool>& tools);

// Text of any bytes as JSON can hold it.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& json);

}  // namespace samovar::replay
