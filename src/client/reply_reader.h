// ReplyReader: the bytes of a chat completion's answer into the reply and what is said about it:
// a stream of events, or the whole reply as JSON from a server that does not stream. A value; one a
// turn, one thread. What cannot be read is counted, not lost in silence.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/completion_chunk.h"
#include "client/sse_parser.h"

namespace samovar::client {

class ReplyReader {
 public:
  // What one call of feed() brought.
  struct Piece {
    std::string content;
    std::string reasoning;
  };

  explicit ReplyReader(bool streamed) : streamed_(streamed) {}

  Piece feed(std::string_view bytes);
  Piece finish();  // the answer ended as HTTP says it should

  [[nodiscard]] bool ended() const { return done_ || !finish_reason_.empty(); }
  [[nodiscard]] const std::string& finish_reason() const { return finish_reason_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& error() const { return error_; }  // an error event's message
  [[nodiscard]] const std::string& tool() const { return tool_; }
  [[nodiscard]] int unreadable() const { return unreadable_; }
  [[nodiscard]] const TurnFigures& figures() const { return figures_; }
  [[nodiscard]] const std::optional<PromptProgress>& progress() const { return progress_; }

 private:
  void event(std::string_view data, Piece& piece);

  bool streamed_;
  SseParser parser_;
  std::string whole_;  // of a reply that is not streamed
  bool done_ = false;
  std::string finish_reason_;
  std::string id_;
  std::string error_;
  std::string tool_;
  int unreadable_ = 0;
  TurnFigures figures_;
  std::optional<PromptProgress> progress_;
};

}  // namespace samovar::client
