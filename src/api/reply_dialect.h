// ReplyDialect: how one reply looks in one dialect. A pure translation from blocks of the reply to
// bytes: no waiting, no sockets, no scheduler. ReplyMachine (reply_machine.h) calls it, in an order
// that it guarantees:
//
//   opened  planned? progress*  (block_begins block_grows* block_ends)*  ended      a stream
//   any of it                                                            failed     a stream cut
//   whole                                                                           no stream
//
// A reply is a row of blocks, in the order in which the model said them. block_grows may come for a
// call that is not the last block where a format interleaves calls. One reply, one thread.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "api/errors.h"
#include "api/http_types.h"
#include "core/chat.h"
#include "core/turn.h"

namespace samovar {

struct ReplyBlock {
  enum class Kind { reasoning, text, tool_call };
  Kind kind = Kind::text;
  std::size_t index = 0;  // among the reply's blocks
  std::size_t call = 0;   // of a tool call: among the calls
  std::string id;         // of a tool call; never empty
  std::string name;       // of a tool call
  std::string text;       // so far; of a tool call its arguments, JSON
};

struct ReplyProgress {
  Position reused = 0;  // prompt tokens that were there
  Position done = 0;    // in memory so far, these included
  Position total = 0;
  Micros elapsed = 0;  // since prefill (or a restore) began
};

// A reply that is complete.
struct ReplyDone {
  const TurnFinished& turn;
  const TurnStarted& plan;
  const char* finish;  // "stop", "length" or "tool_calls"
  const ChatMessage& message;
  std::span<const ReplyBlock> blocks;
  // Empty unless asked for; a stream: of tokens that no block_grows() has had.
  std::span<const Sampled> logprobs;
  const nlohmann::ordered_json& timings;  // what there is to say of the turn: docs/turns.md
  TokenSpan tokens = {};                  // as sampled; empty if the turn is not recorded
};

class ReplyDialect {
 public:
  virtual ~ReplyDialect() = default;

  // --- a stream: each appends the bytes to send, often none ---
  virtual void opened(std::string& out) { (void)out; }  // accepted; nothing is known yet
  virtual void planned(const TurnStarted& plan, std::string& out) { (void)plan, (void)out; }
  virtual void progress(const ReplyProgress& progress, std::string& out) {
    (void)progress, (void)out;
  }
  virtual void block_begins(const ReplyBlock& block, std::string& out) = 0;
  // `piece` is new at the end of block.text. `tokens` are those whose log probabilities have not
  // been passed yet; empty unless asked for.
  virtual void block_grows(const ReplyBlock& block, std::string_view piece,
                           std::span<const Sampled> tokens, std::string& out) = 0;
  virtual void block_ends(const ReplyBlock& block, std::string& out) { (void)block, (void)out; }
  virtual void ended(const ReplyDone& reply, std::string& out) = 0;
  virtual void failed(const Error& error, std::string& out) = 0;
  // What fills a silence.
  [[nodiscard]] virtual std::string_view keepalive() const { return ": keepalive\n\n"; }

  // --- a whole reply ---
  [[nodiscard]] virtual HttpResponse whole(const ReplyDone& reply) = 0;

  // What this dialect calls a field of a chat request that cannot be rendered or submitted
  // ("messages", "tools[2].function.parameters", "response_format").
  [[nodiscard]] virtual std::string client_field(const std::string& field) const { return field; }

  // What the ids of calls begin with, for formats in which the model gives them none.
  [[nodiscard]] virtual std::string_view call_id_prefix() const { return "call_"; }

  // How this dialect says what went wrong, in a response of its own.
  [[nodiscard]] virtual ErrorForm error_form() const { return ErrorForm::openai; }
};

}  // namespace samovar
