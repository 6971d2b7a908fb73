// ChatStream: the state machine of a streamed reply, from turn events to SSE bytes. No sockets, no
// waiting: chat_completions.cc pumps events through it. One reply, one thread.
//
//   waiting -> begun: the first text, or progress if asked for
//   begun -> done:    TurnFinished; "[DONE]" is sent (an empty reply passes through begun)
//   any -> done:      TurnFailed or fail(); an error event is sent
//
// The role chunk is sent on leaving `waiting`, not before: a client that takes the first chunk for
// the first token then measures the truth. Keepalive comments fill the time until there.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat_path.h"
#include "api/reply_json.h"
#include "api/reply_message.h"
#include "base/clock.h"
#include "core/turn.h"
#include "turn/turn_records.h"

namespace samovar {

inline constexpr std::string_view kKeepalive = ": keepalive\n\n";

struct ChatStreamOptions {
  bool include_usage = false;
  bool return_progress = false;
  bool logprobs = false;
};

class ChatStream {
 public:
  // `chat` and `clock` must outlive the stream.
  // `recorder` may be null: then nothing is told of what the turn reused and missed.
  ChatStream(const ReplyIdentity& identity, ChatStreamOptions options, const ChatPath& chat,
             std::unique_ptr<ReplyReader> reader, const Clock& clock,
             std::shared_ptr<TurnRecorder> recorder = nullptr);

  // The bytes to send for an event, often none. After TurnFinished or TurnFailed the stream is
  // done.
  [[nodiscard]] std::string on_event(const TurnEvent& event);

  // Ends the stream with an error event.
  [[nodiscard]] std::string fail(const Error& error);

  [[nodiscard]] bool done() const { return done_; }

 private:
  void on(const TurnRestoring& event, std::string& out);
  void on(const TurnStarted& event, std::string& out);
  void on(const TurnProgress& event, std::string& out);
  void on(const TurnText& event, std::string& out);
  void on(const TurnFinished& event, std::string& out);
  void on(const TurnFailed& event, std::string& out);

  void begin(std::string& out);
  void append_deltas(std::vector<ReplyDelta> deltas, std::string& out);
  void append_progress(Position done, Position total, std::string& out);
  void append_chunk(std::string_view delta, const char* finish, std::string_view extra,
                    std::string& out);
  [[nodiscard]] std::string take_logprobs();

  std::string head_;  // of every chunk, up to the choices
  std::string tail_;  // after the choices
  const ChatStreamOptions options_;
  const ChatPath& chat_;
  std::unique_ptr<ReplyReader> reader_;
  const Clock& clock_;
  std::shared_ptr<TurnRecorder> recorder_;  // may be null

  ReplyMessage message_;
  bool begun_ = false;
  bool done_ = false;
  Micros prefill_began_ = 0;
  Position reused_ = 0;
  std::vector<Sampled> pending_logprobs_;  // of tokens whose text has not been sent yet
};

}  // namespace samovar
