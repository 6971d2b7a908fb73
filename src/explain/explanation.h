// Explanation: what broke a prefix, where, what it cost and what to do about it. A value that every
// surface shows in its own way: header, log line, ledger, JSON, terminal. Titles, details and
// remedies are English sentences and never contain text of a prompt (a detail may name a tool);
// only FirstDifference::old_text and new_text do, for the owner's eyes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/chat.h"
#include "core/tokens.h"
#include "explain/cause.h"

namespace samovar {

// Where two prompts part. What is not known is empty.
struct FirstDifference {
  std::optional<Position> token;       // of the later prompt
  std::optional<std::size_t> byte;     // of the later prompt's rendered text
  bool estimated = false;              // token and byte are guesses
  std::optional<std::size_t> message;  // index in the later request
  std::optional<Role> role;
  std::string field;  // "content", "reasoning", "tool_calls[0].arguments", "tools[2].parameters",
                      // "enable_thinking", "template", "model", ...
  std::string tool;   // the tool's name, where it lies in one
  std::string old_text;
  std::string new_text;
  std::size_t old_at = 0;  // byte of old_text at which the difference begins
  std::size_t new_at = 0;
};

struct Explanation {
  Cause cause = Cause::none;
  std::string title;                   // one line, without a full stop
  std::string detail;                  // sentences; may be empty
  std::string remedy;                  // what to do about it; may be empty
  Position tokens_lost = 0;            // computed again although they had been computed before
  bool estimated = false;              // tokens_lost is one
  std::optional<double> seconds_lost;  // nullopt: the rate of prefill is not known
  std::optional<FirstDifference> first;
  std::string kept_reply;  // id of the turn whose reply the conversation leaves out; empty: none
};

// "messages[3] (assistant), content", "tools[2].parameters (read_file)", "enable_thinking".
[[nodiscard]] std::string place_text(const FirstDifference& first);

}  // namespace samovar
