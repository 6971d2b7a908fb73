// TurnRecords: what becomes of a turn besides its reply. It is recorded in the ledger, compared
// with the turn before it, its sampled reply is remembered for exact replay, and where the template
// will render the history in another way at the next question, that is computed in idle time.
//
// One for the process, any thread. A TurnRecorder belongs to one turn: the engine thread reports
// events to it, one HTTP thread reads from it; whichever side sees the end of the turn last
// completes it. Nothing here waits for a disk or for the engine.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "chat/chat_format.h"
#include "core/chat.h"
#include "core/sampling.h"
#include "core/turn.h"
#include "explain/explanation.h"
#include "explain/turn_shape.h"
#include "ledger/ledger.h"
#include "obs/meter.h"
#include "sched/running_average.h"
#include "turn/recent_turns.h"
#include "turn/turn_board.h"
#include "turn/turn_service.h"

namespace samovar {

// How a reply was asked for, besides its conversation.
struct TurnAsked {
  SamplingParams sampling;  // without a grammar
  std::vector<std::string> stop;
  std::optional<std::int64_t> max_tokens;
  bool streamed = false;
  Micros arrived = 0;
};

// What a dialect knows of a turn when it begins.
struct TurnOrigin {
  std::string id;                           // of its reply, new
  std::string dialect;                      // "chat.completions"
  std::string session_key;                  // the client's; may be empty
  std::shared_ptr<const ChatRequest> chat;  // null: that of the turn that is continued
  std::string body;                         // the request as it came; used only if text is kept
  bool keep_text = false;                   // the client asked for it
  std::string neutralised;                  // names of the rules that were applied, comma separated
  std::string tool_order;                   // "sorted" or empty
  std::string continues;                    // id of the cut turn whose reply goes on
  Tokens reply_so_far;                      // of that turn
  bool background = false;                  // nobody waits for the reply
  Micros began = 0;                         // when the request came to be parsed; 0: just now
  TurnAsked asked;
};

// What the client is told of a turn besides its reply.
struct TurnReport {
  std::string id;
  std::string session;
  std::optional<Explanation> miss;  // nullopt until it is known
  std::string neutralised;
  std::string tool_order;
  int replayed = 0;
  int reasoning_restored = 0;
};

// How a reply ended, as its dialect sees it.
struct ReplyEnd {
  std::string finish;     // "stop", "length", "tool_calls"
  ChatMessage message;    // with the ids its calls were sent under
  std::string formatted;  // the message in the dialect's JSON; used only if text is kept
};

// A turn that ended or was cut, for whoever records traffic. Borrowed.
struct TurnTrace {
  const TurnOrigin& origin;  // its chat is not null
  const TurnRecord& record;
  const ChatMessage& reply;
  Micros ended = 0;
};

class TurnRecords;

class TurnRecorder final : public TurnObserver, public std::enable_shared_from_this<TurnRecorder> {
 public:
  // TurnRecords::begin() makes them.
  TurnRecorder(TurnRecords& records, TurnOrigin origin, const RenderedChat& rendered,
               std::shared_ptr<const std::string> text);

  // --- engine thread ---
  void on_event(const TurnEvent& event) override;
  void on_token(Token token) override;

  // --- the HTTP thread that reads the turn ---
  // Admitted: compares it with the turn before. Takes a few milliseconds.
  void started(const TurnStarted& event);
  // The reply is complete: known for replay when this returns.
  void finished(const TurnFinished& event, ReplyEnd end);
  void failed(const TurnFailed& event);
  // The turn was never accepted.
  void refused(const Error& error);
  // Somebody asked for its end: its finish reason will be "cancelled", unless it is complete.
  void cancelled();
  // Nobody reads any more; the turn may still run.
  void reader_left();

  [[nodiscard]] TurnReport report() const;
  [[nodiscard]] Tokens reply_tokens() const { return live_->reply(); }  // sampled so far

 private:
  friend class TurnRecords;
  void complete(const ChatMessage& reply, std::vector<std::string> call_ids);
  void complete_cut();
  void read_and_complete();
  void started_again();
  void tell_board();
  void charge_miss(const TurnTimings& timings);
  void count_miss(const TurnTimings& timings);
  void close();
  void log(const TurnRecord& record) const;

  TurnRecords& records_;
  const TurnOrigin origin_;
  const std::shared_ptr<const Prompt> prompt_;
  const std::shared_ptr<const std::string> text_;
  const std::shared_ptr<LiveTurn> live_;
  const std::shared_ptr<TurnOnBoard> on_board_;

  mutable std::mutex mutex_;
  TurnReport report_;                   // guarded by mutex_
  std::shared_ptr<TurnShape> shape_;    // guarded by mutex_
  bool compared_ = false;               // guarded by mutex_: with the turn before
  bool ended_ = false;                  // guarded by mutex_: the engine reported the end
  bool left_ = false;                   // guarded by mutex_: nobody reads any more
  bool closed_ = false;                 // guarded by mutex_
  std::optional<TurnStarted> started_;  // guarded by mutex_: seen by the engine thread
};

// A reply whose history the next question will find rendered in another way.
struct EndedReply {
  std::shared_ptr<const ChatRequest> chat;
  ChatMessage reply;
  std::shared_ptr<const Prompt> prompt;
  Tokens tokens;  // as sampled
  std::string session;
};

class TurnRecords {
 public:
  struct Environment {
    Ledger& ledger;
    const Clock& clock;
    Executor& background;    // one thread
    std::string model;       // names the model's content
    std::string model_name;  // for people
    std::string template_id;
    // What a reply says; nullopt: how it is read is not known any more.
    std::function<std::optional<ChatMessage>(const SavedSyntax&, TokenSpan reply)> read_reply;
    // All of these may be empty. `remember`: a reply was sampled after the messages that `context`
    // names, and its calls were sent under `call_ids`.
    std::function<void(const TurnRecord&, const std::vector<std::string>& call_ids)> remember = {};
    std::function<void(const Sha256& context)> forget = {};
    // A reply as its dialect formats it, for turns whose text is kept and whose client left.
    std::function<std::string(const ChatMessage&)> format = {};
    Meter* meter = &no_meter();  // is told of every miss
    // Every turn of a conversation once its reply has ended or was cut. Must not wait.
    std::function<void(const TurnTrace&)> trace = {};
  };
  explicit TurnRecords(Environment environment);

  // Is told of every reply that ended by itself. Before the first turn; may be left out.
  void on_ended(std::function<void(EndedReply)> ended) { ended_ = std::move(ended); }

  // Records a turn from here on. Takes the rendered text.
  std::shared_ptr<TurnRecorder> begin(TurnOrigin origin, RenderedChat& rendered);

  // Whether the text of a turn is kept, which the client asked for or not.
  [[nodiscard]] bool keeps_text(bool asked) const {
    return asked || env_.ledger.options().keep_text;
  }

  // The reply of a recorded turn, read from its tokens; nullopt where they are not kept.
  [[nodiscard]] std::optional<ChatMessage> reply_of(const TurnRecord& record) const;

  // Why it missed, with texts while the turn is among the recent ones.
  [[nodiscard]] std::optional<Explanation> explanation_of(const TurnRecord& record) const;

  // Forgets a turn, or all of a session: ledger, replay, shapes.
  Result<bool> forget_turn(const std::string& id);
  Result<std::int64_t> forget_session(const std::string& session);

  [[nodiscard]] Ledger& ledger() { return env_.ledger; }

  // What runs, for whoever watches.
  [[nodiscard]] TurnBoard& board() { return board_; }

 private:
  friend class TurnRecorder;
  void load_shapes();
  void learn_rate(const TurnTimings& timings);
  [[nodiscard]] double prefill_rate() const;

  const Environment env_;
  std::function<void(EndedReply)> ended_;
  RecentTurns recent_;
  TurnBoard board_;
  mutable std::mutex rate_mutex_;
  RunningAverage us_per_token_{0.3};  // guarded by rate_mutex_; of prefill
};

}  // namespace samovar
