// ResponsesDialect: a reply as POST /v1/responses answers it: a stream of semantic events, or one
// response object. Every event has the next sequence_number, from 0 on:
//
//   response.created  response.in_progress            (background: created, queued, and in_progress
//                                                      once it is planned)
//   for every item    response.output_item.added
//     message, content of reasoning   content_part.added  output_text|reasoning_text .delta* .done
//                                     content_part.done
//     summary of reasoning            reasoning_summary_part.added  reasoning_summary_text.delta*
//                                     .done  reasoning_summary_part.done
//     function_call                   function_call_arguments.delta* .done
//                     response.output_item.done
//   response.completed | response.incomplete | response.failed
//
// Calls are done at the end of the reply, because a format may interleave them.
#pragma once

#include <string>
#include <vector>

#include "api/chat_path.h"
#include "api/reply_dialect.h"
#include "api/response_items.h"
#include "api/response_object.h"
#include "base/clock.h"

namespace samovar {

struct ResponsesOptions {
  ReasoningForm reasoning;
  bool logprobs = false;
  bool background = false;
};

class ResponsesDialect final : public ReplyDialect {
 public:
  // Events of a background reply before its turn is planned.
  static constexpr std::size_t kEventsWhileQueued = 2;

  // `chat`, which knows the tokens' bytes, and `clock` must outlive the dialect.
  ResponsesDialect(ResponseHead head, ResponsesOptions options, const ChatPath& chat,
                   const Clock& clock);

  void opened(std::string& out) override;
  void planned(const TurnStarted& plan, std::string& out) override;
  void block_begins(const ReplyBlock& block, std::string& out) override;
  void block_grows(const ReplyBlock& block, std::string_view piece, std::span<const Sampled> tokens,
                   std::string& out) override;
  void ended(const ReplyDone& reply, std::string& out) override;
  void failed(const Error& error, std::string& out) override;
  [[nodiscard]] HttpResponse whole(const ReplyDone& reply) override;
  [[nodiscard]] std::string client_field(const std::string& field) const override;

 private:
  struct Item {
    ReplyBlock block;
    std::string id;
    std::string logprobs = {};  // elements of a JSON array
    bool done = false;
    bool cut = false;
  };

  void emit(std::string_view type, std::string_view members, std::string& out);
  void emit_response(std::string_view type, const ResponseState& state, std::string& out);
  void close(Item& item, std::string& out);
  void close_part(const Item& item, std::string& out);
  [[nodiscard]] std::string place(const Item& item) const;
  [[nodiscard]] std::string add_logprobs(Item& item, std::string_view piece,
                                         std::span<const Sampled> tokens) const;
  [[nodiscard]] std::string output() const;
  [[nodiscard]] ResponseState final_state(const ReplyDone& reply) const;

  const ResponseHead head_;
  const ResponsesOptions options_;
  const ChatPath& chat_;
  const Clock& clock_;
  std::vector<Item> items_;
  std::size_t next_ = 0;  // sequence_number
};

}  // namespace samovar
