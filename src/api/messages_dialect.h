// MessagesDialect: a reply as POST /v1/messages answers it: the events of a message stream, or one
// message. Pure. One reply, one thread.
//
// message_start goes out when the turn is planned, because it tells what was read from the cache;
// until then, and in every silence after, `ping`s keep the connection.
//
// Usage, all exact: cache_read_input_tokens are prompt tokens that were not computed;
// cache_creation_input_tokens those that were and that the next turn finds; input_tokens the rest,
// the generation primer. Their sum is the prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/reply_dialect.h"

namespace samovar {

// What the Messages API calls a field of a chat request.
[[nodiscard]] std::string messages_field(const std::string& field);

class MessagesDialect final : public ReplyDialect {
 public:
  // `stop`: the request's own stop sequences; `max_tokens`: its limit.
  MessagesDialect(std::string id, std::string model, std::vector<std::string> stop,
                  std::optional<std::int64_t> max_tokens);

  void planned(const TurnStarted& plan, std::string& out) override;
  void block_begins(const ReplyBlock& block, std::string& out) override;
  void block_grows(const ReplyBlock& block, std::string_view piece, std::span<const Sampled> tokens,
                   std::string& out) override;
  void block_ends(const ReplyBlock& block, std::string& out) override;
  void ended(const ReplyDone& reply, std::string& out) override;
  void failed(const Error& error, std::string& out) override;
  [[nodiscard]] std::string_view keepalive() const override;

  [[nodiscard]] HttpResponse whole(const ReplyDone& reply) override;

  [[nodiscard]] std::string client_field(const std::string& field) const override;
  [[nodiscard]] std::string_view call_id_prefix() const override { return "toolu_"; }
  [[nodiscard]] ErrorForm error_form() const override { return ErrorForm::anthropic; }

 private:
  struct Ending {
    std::string reason;
    std::optional<std::string> sequence;
  };
  [[nodiscard]] nlohmann::ordered_json message(nlohmann::ordered_json usage) const;
  [[nodiscard]] Ending ending(const ReplyDone& reply) const;
  void begin(std::string& out);

  const std::string id_;
  const std::string model_;
  const std::vector<std::string> stop_;
  const std::optional<std::int64_t> max_tokens_;
  TurnStarted plan_;
  bool begun_ = false;
};

}  // namespace samovar
