// DialogueKeys: names for the places of a conversation at which a reply was sampled. A key stands
// for the messages before the reply by what they mean: role, content, tool calls with their
// arguments. It does not depend on what clients change without meaning it (spelling of JSON, space
// around replies, call ids), nor on system messages, tools and reasoning: a clock in the system
// prompt must not make every reply unknown. So a key finds a reply and proves nothing about it.
// Pure functions; any thread. Cannot fail. The keys are part of the ledger's files: what goes into
// them changes with the version in dialogue_key.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "core/chat.h"

namespace samovar {

// A tool call by meaning.
struct CallMeaning {
  std::string name;
  std::string arguments;  // canonical_json.h
  bool operator==(const CallMeaning&) const = default;
};

std::vector<CallMeaning> meaning_of(const std::vector<ToolCall>& calls);

// Without the white space (of ASCII) at both ends.
std::string_view trimmed(std::string_view text);

struct DialogueKeys {
  struct Reply {
    std::size_t message;             // index of an assistant message
    Sha256 context;                  // names the messages before it
    std::vector<CallMeaning> calls;  // its own
  };
  std::vector<Reply> replies;  // in order
  Sha256 whole{};              // names all messages
};

DialogueKeys dialogue_keys(const std::vector<ChatMessage>& messages);

}  // namespace samovar
