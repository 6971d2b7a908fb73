// A turn: one request and its reply, as it travels between api/ and sched/. Requests go down as
// TurnRequest; results come back up through one interface only, TurnSink, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/prompt.h"
#include "core/sampling.h"
#include "core/tokens.h"

namespace samovar {

using TurnId = std::uint64_t;

enum class TurnKind {
  request,  // a client waits for the reply
  rewarm,   // prefill only, in idle time; gives way to any request (docs/decisions/rewarm.md)
};

struct TurnRequest {
  TurnKind kind = TurnKind::request;
  Prompt prompt;
  SamplingParams sampling;
  std::vector<std::string> stop;           // stop strings, matched on the reply's text
  std::optional<std::int64_t> max_tokens;  // nullopt: until the model ends or the context is full
  std::string session_key;  // from prompt_cache_key or a header; a hint, may be empty
  Micros arrived = 0;       // when the request's bytes were complete
  Micros submitted = 0;     // when it was handed in: from then on it waits
  Micros render_time = 0;   // parse + template + tokenise
};

enum class FinishReason {
  end,     // the model ended its reply
  stop,    // a stop string matched
  length,  // max_tokens reached, or the context is full
};

// Where the tokens of a prompt came from. One of them per turn.
enum class ReuseSource { none, live, anchor, fork, store };
[[nodiscard]] const char* to_string(ReuseSource source);

// What a turn cost. Prefill and decode are never mixed; rates are computed only from these.
// All times are durations in microseconds on the monotonic clock.
struct TurnTimings {
  Micros render = 0;       // parse, template, tokenise (HTTP thread)
  Micros queue = 0;        // waiting for a sequence
  Micros plan = 0;         // choosing what to reuse
  Micros restore = 0;      // bringing it into the sequence (rewind, fork, or from the store)
  Micros prefill = 0;      // computing prompt tokens: this turn's own engine calls and snapshots
  Micros first_token = 0;  // from arrival to the first sampled token
  Micros decode = 0;       // its decode calls after the first token, sampling included
  // Of a restore from the store; read and verify overlap one another and set.
  std::uint64_t restore_bytes = 0;
  Micros restore_read = 0;    // IO threads: from the disk or the page cache
  Micros restore_verify = 0;  // IO threads: checksums
  Micros restore_set = 0;     // engine thread: into the engine's memory
  int starts = 0;             // times it left the queue
  int restores = 0;           // from the store, tried

  Position prompt_tokens = 0;
  Position reused_tokens = 0;    // really reused; prompt = reused + computed once it has finished
  Position computed_tokens = 0;  // prompt tokens computed in this turn
  Position reply_tokens = 0;     // sampled, the end token included
  Position matched_tokens = 0;   // longest prefix shared with anything resident
  Position rewarmed_tokens =
      0;  // of reused_tokens: computed by a re-warm, this turn the first to use
  ReuseSource source = ReuseSource::none;
};

// What there was to reuse, for the explanation of a miss. Positions are prompt tokens.
struct ReuseFacts {
  Position matched = 0;  // longest prefix shared with anything resident
  Position stored = 0;   // what the longest checkpoint on disk would bring back
  bool store_on = false;
  // Had nothing been evicted to make room: what would be resident still, and what the longest
  // checkpoint on disk would bring back. 0: nothing that is known of.
  Position evicted_memory = 0;
  Position evicted_disk = 0;
  int restores_failed = 0;           // checkpoints that were tried for this turn and given up
  std::string restore_problem = {};  // why the last of them was
};

// --- events ----------------------------------------------------------------------------------

struct TurnRestoring {  // before TurnStarted: a checkpoint is on its way from the store
  Position done = 0;    // prompt tokens in memory so far
  Position total = 0;   // of the prompt
};
struct TurnStarted {  // admitted; prefill begins
  Position prompt_tokens = 0;
  Position reused_tokens = 0;
  std::string plan;  // printable
  ReuseSource source = ReuseSource::none;
  ReuseFacts facts;
  Position history_tokens = 0;  // of the prompt, without its generation primer
  std::string kept_as = {};     // id of the session that its checkpoints are written for, in hex
};
struct TurnProgress {  // after each piece of prefill
  Position done = 0;   // prompt tokens in memory so far, reused ones included
  Position total = 0;
};
struct TurnText {               // new text of the reply; may end inside a UTF-8 character
  std::string text;             // bytes
  std::vector<Sampled> tokens;  // only if log probabilities were asked for
};
struct TurnFinished {
  FinishReason reason = FinishReason::end;
  TurnTimings timings;
  std::string stopped_at = {};  // FinishReason::stop: the stop string that matched
};
struct TurnFailed {
  Error error;
  TurnTimings timings;
};
using TurnEvent =
    std::variant<TurnRestoring, TurnStarted, TurnProgress, TurnText, TurnFinished, TurnFailed>;

// Receives a turn's events on the engine thread. Must not block: a slow reader is the sink's
// problem, never the engine's. After TurnFinished or TurnFailed nothing follows.
class TurnSink {
 public:
  virtual ~TurnSink() = default;
  virtual void on_event(TurnEvent event) = 0;

  // Every sampled token, in order, whether or not its text is out yet; the end token included. Must
  // not block either.
  virtual void on_token(Token token) { (void)token; }

  // Asked by the engine thread between engine calls. True: the client is gone; work stops and what
  // was computed stays reusable.
  [[nodiscard]] virtual bool cancelled() const = 0;
};

}  // namespace samovar
