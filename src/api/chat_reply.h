// ChatReply: a whole reply collected from turn events, for requests that do not stream. No sockets,
// no waiting: chat_completions.cc feeds it. One reply, one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/chat_path.h"
#include "api/http_types.h"
#include "api/reply_json.h"
#include "api/reply_message.h"
#include "core/chat.h"
#include "core/turn.h"
#include "turn/turn_records.h"

namespace samovar {

class ChatReply {
 public:
  // `chat` must outlive the reply. `recorder` may be null.
  ChatReply(ReplyIdentity identity, bool logprobs, const ChatPath& chat,
            std::unique_ptr<ReplyReader> reader, std::shared_ptr<TurnRecorder> recorder = nullptr);

  // True when the event was the last one; response() is then the answer.
  [[nodiscard]] bool on_event(TurnEvent event);

  [[nodiscard]] HttpResponse response() const { return response_; }

 private:
  void add(std::vector<ReplyDelta> deltas);
  [[nodiscard]] HttpResponse completion(const TurnFinished& finished) const;

  const ReplyIdentity identity_;
  const bool logprobs_wanted_;
  const ChatPath& chat_;
  std::unique_ptr<ReplyReader> reader_;

  std::shared_ptr<TurnRecorder> recorder_;  // may be null
  std::optional<TurnStarted> started_;

  ReplyMessage message_;
  std::vector<Sampled> logprobs_;
  HttpResponse response_;
};

}  // namespace samovar
