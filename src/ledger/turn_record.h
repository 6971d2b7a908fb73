// TurnRecord: what the ledger keeps of one turn. A value.
//
// Three kinds of content, which live for different times: figures and hashes (as long as the
// record), tokens (for exact replay and for replies that were cut, with a lifetime of their own),
// and text (only where the owner or the client asked for it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "core/chat.h"
#include "core/tokens.h"
#include "core/turn.h"
#include "explain/explanation.h"

namespace samovar {

enum class TurnStatus : std::uint8_t {
  running = 1,
  complete = 2,    // the reply ended by itself, at a stop string or at its token limit
  incomplete = 3,  // it was cut: client gone, crash, shutdown
  failed = 4,      // it ended with an error before its first token
};
[[nodiscard]] const char* to_string(TurnStatus status);

struct TurnRecord {
  std::string id;              // of the dialect: "chatcmpl-..."
  std::string session;         // the client's key, or that of the turn it goes on from
  bool session_named = false;  // by the client
  std::string dialect;         // "chat.completions"
  std::string model;
  std::int64_t created = 0;  // seconds since 1970
  std::int64_t ended = 0;    // 0: running
  TurnStatus status = TurnStatus::running;
  std::string finish;  // finish reason, as the dialect said it; empty if there was none
  std::string error;   // what cut or failed it, for people
  TurnTimings timings;
  ReuseFacts facts;
  std::int64_t messages = 0;
  std::int64_t tools = 0;
  std::int64_t replayed = 0;            // replies whose sampled tokens were used
  std::int64_t reasoning_restored = 0;  // replies whose reasoning the client had not sent
  std::string neutralised;              // names of the rules that were applied, comma separated
  std::string tool_order;               // "changed", "sorted" or empty
  std::string continues;                // id of the cut turn that this one continues
  bool bound = false;                   // to a response format: such a reply cannot be continued
  std::vector<std::uint8_t> shape;      // explain/turn_shape.h, encoded
  std::optional<Explanation> miss;      // nullopt: not known

  // Tokens. `context` names the messages before the reply by meaning (chat/dialogue_key.h).
  Sha256 context{};
  Tokens primer;  // the end of the prompt that asked for the reply
  Tokens reply;   // as sampled, the end token included
  SavedSyntax syntax;
  Tokens prompt;  // kept for turns that are not complete only

  // Text.
  bool keep_text = false;
  std::string request;  // the body as it came
  std::string message;  // the reply, as the dialect formats it
};

}  // namespace samovar
