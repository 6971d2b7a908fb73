// ReplyMachine: the one state machine of every reply, in every dialect, streamed or whole. It takes
// turn events, tells the recorder, reads the text with the format's parser, and calls the dialect
// with what became certain (reply_dialect.h).
//
//   waiting -> in a block -> ... -> done
//
// No sockets, no waiting. One reply, one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/chat_path.h"
#include "api/reply_dialect.h"
#include "base/clock.h"
#include "core/turn.h"
#include "turn/turn_records.h"

namespace samovar {

class ReplyMachine {
 public:
  enum class Form { stream, whole };

  // `clock` must outlive the machine. `recorder` may be null: then the turn leaves no trace and
  // nothing is told of what it reused and missed.
  ReplyMachine(Form form, std::unique_ptr<ReplyDialect> dialect,
               std::unique_ptr<ReplyReader> reader, const Clock& clock,
               std::shared_ptr<TurnRecorder> recorder = nullptr);

  // The bytes that a stream begins with, often none.
  [[nodiscard]] std::string open();

  // The bytes to send for an event, often none; of a whole reply always none. After TurnFinished or
  // TurnFailed the reply is done.
  [[nodiscard]] std::string on_event(const TurnEvent& event);

  // Ends the reply with an error.
  [[nodiscard]] std::string fail(const Error& error);

  [[nodiscard]] bool done() const { return done_; }

  // What fills a silence.
  [[nodiscard]] std::string_view keepalive() const { return dialect_->keepalive(); }

  // The whole reply, or what went wrong. Once, when it is done; Form::whole only.
  [[nodiscard]] HttpResponse take_response() { return std::move(response_); }

 private:
  void on(const TurnRestoring& event, std::string& out);
  void on(const TurnStarted& event, std::string& out);
  void on(const TurnProgress& event, std::string& out);
  void on(const TurnText& event, std::string& out);
  void on(const TurnFinished& event, std::string& out);
  void on(const TurnFailed& event, std::string& out);

  void tell_progress(Position done, Position total, std::string& out);
  void add(const std::vector<ReplyDelta>& deltas, std::string& out);
  void add_text(ReplyBlock::Kind kind, std::string_view text, std::string& out);
  void add_call(const ReplyDelta::Call& piece, std::string& out);
  ReplyBlock& begin_block(ReplyBlock block, std::string& out);
  void grow(ReplyBlock& block, std::string_view piece, std::string& out);
  void end_block(std::string& out);
  [[nodiscard]] ChatMessage message() const;
  [[nodiscard]] bool streams() const { return form_ == Form::stream; }

  const Form form_;
  std::unique_ptr<ReplyDialect> dialect_;
  std::unique_ptr<ReplyReader> reader_;
  const Clock& clock_;
  std::shared_ptr<TurnRecorder> recorder_;  // may be null

  std::vector<ReplyBlock> blocks_;
  bool block_open_ = false;        // the last of them
  std::vector<Sampled> logprobs_;  // a stream: of tokens whose text has not been sent yet
  std::optional<TurnStarted> plan_;
  Micros prefill_began_ = 0;
  Position reused_ = 0;
  bool done_ = false;
  HttpResponse response_;
};

}  // namespace samovar
