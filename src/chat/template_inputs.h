// From a ChatRequest to what libllama-common's templates take, with every error that can be told
// before rendering named by its field. Pure functions; any thread.
#pragma once

#include <llama-common/chat.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "core/chat.h"

namespace samovar {

// Errors: invalid_argument for an empty conversation, text that should be JSON and is not, an
// unknown tool_choice name, an enable_thinking that is not a boolean.
Result<common_chat_templates_inputs> make_template_inputs(const ChatRequest& request,
                                                          bool template_supports_parallel_calls);

// The same request with only the tool `name` on offer, for the grammar that allows no other.
common_chat_templates_inputs only_tool(const common_chat_templates_inputs& inputs,
                                       const std::string& name);

// The same request with other messages, without copying the old ones.
common_chat_templates_inputs with_messages(const common_chat_templates_inputs& inputs,
                                           std::vector<common_chat_msg> messages,
                                           bool with_tools = true);

// For keys of what depends on a request: appends a part that no other parts can be mistaken for;
// the same for the template arguments and tools.
void append_key(std::string& key, const std::string& part);
void append_key(std::string& key, const common_chat_templates_inputs& inputs);

// The template refused `request` saying `reason`: the field at fault, as far as it can be told.
Error explain_refusal(const ChatRequest& request, const std::string& reason);

}  // namespace samovar
