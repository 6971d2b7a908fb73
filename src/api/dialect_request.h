// DialectRequest: what a request asks for, whatever dialect it came in. Every dialect's parser
// makes one; from here on nothing depends on the dialect but the form of the answer
// (reply_dialect.h). A value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chat.h"
#include "core/sampling.h"
#include "explain/neutralise.h"

namespace samovar {

// What a request that says nothing gets. From the command line.
struct ChatDefaults {
  SamplingParams sampling;
  std::optional<std::int64_t> max_tokens;  // nullopt: no limit
  std::optional<bool> enable_thinking;     // nullopt: the template's default
  int vocab_size = 0;                      // bounds logit_bias; 0: unchecked
  RuleSet neutralise;                      // volatile lines to fix (explain/neutralise.h)
  bool sort_tools = false;                 // tools in the order of their names
  bool store_responses = true;             // POST /v1/responses without `store`
};

// What a stream has beside the reply, if the client asks for it.
struct StreamExtras {
  bool include_usage = false;    // stream_options.include_usage: a last chunk with the usage
  bool return_progress = false;  // prompt_progress chunks during prefill
};

struct DialectRequest {
  ChatRequest chat;
  SamplingParams sampling;
  std::vector<std::string> stop;
  std::optional<std::int64_t> max_tokens;
  bool stream = false;
  std::string session_key;  // what the client calls its session; a header may say it, too
  std::string user_hint;    // whose request it is: a weaker sign of a session
  bool store = false;       // keep the text of request and reply
};

}  // namespace samovar
