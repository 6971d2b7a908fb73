// Replay: for one request, which of its messages are replies that were sampled here, what the
// client left out of them, and the tokens that stand for them in the prompt.
//
//   find known replies -> restore_reasoning() -> the template -> append() for each piece of it
//
// Whether a piece's tokens are replaced depends on the text and messages up to it only, so that a
// follow-up begins with the prompt it follows. One per request, one thread. Cannot fail: whatever
// is unknown, or says something else than what was sampled, stays as the client sent it.
#pragma once

#include <llama-common/chat.h>

#include <memory>
#include <string_view>
#include <vector>

#include "chat/piece_tokens.h"
#include "chat/replay_memo.h"
#include "chat/reply_memory.h"
#include "core/chat.h"

namespace samovar {

class Replay final : public PieceTokens {
 public:
  // All borrowed; `keys` are those of `request`.
  Replay(ReplayMemo& memo, const ChatRequest& request, const DialogueKeys& keys,
         ReplySource& source);

  // Fills in the sampled reasoning of replies in a running tool loop (after the last user message)
  // that come without any. The template decides what becomes of it. True if there was one.
  bool restore_reasoning(std::vector<common_chat_msg>& messages);

  // The next piece of the rendered text, in order.
  bool append(std::string_view piece, Tokens& tokens) override;

  [[nodiscard]] int replayed() const { return replayed_; }
  [[nodiscard]] int reasoning_restored() const { return restored_; }  // of them, those rendered

 private:
  struct Expected {  // a message in whose place the text has a reply
    std::size_t message;
    std::vector<ReplySource::Reply> candidates;  // best first
    std::string_view restored;                   // reasoning, trimmed; views into a candidate
  };
  void expect_lookalikes(std::string_view text);

  ReplayMemo& memo_;
  const ChatRequest& request_;
  std::vector<Expected> expected_;  // one for each piece that begins as replies do, in order
  std::size_t next_ = 0;
  int replayed_ = 0;
  int restored_ = 0;
};

}  // namespace samovar
