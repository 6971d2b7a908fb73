// Rewarmer: after a reply, looks whether the next message of the user will find its history in
// memory, and has it warmed while nobody asks if not (docs/decisions/rewarm.md).
//
// reply_ended() may be called from any thread and returns at once; rendering happens on a thread of
// its own, in quiet moments. Of one conversation the newest reply counts, and the queue is bounded.
// What fails costs the re-warm, nothing else, and is logged for debugging. Borrows what the
// functions borrow: stop() it before they go.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "core/turn.h"
#include "turn/rewarm_prompt.h"

namespace samovar {

struct RewarmerOptions {
  Position departed_min = 64;       // tokens: what costs no more than this is not warmed
  std::size_t queue_max = 16;       // conversations
  Micros poll = 50 * kMillisecond;  // how often it looks whether the server is quiet
};

// What the Rewarmer needs of the server. All are called on its thread.
struct RewarmerParts {
  RenderPrompt render;
  std::function<Status(TurnRequest, std::shared_ptr<TurnSink>)> submit;  // EngineThread::submit
  std::function<bool()> quiet;                                           // no turn waits or runs
};

class Rewarmer {
 public:
  Rewarmer(RewarmerParts parts, const Clock& clock, RewarmerOptions options = {});
  ~Rewarmer();  // stops

  // A reply has ended by itself (not cancelled, not cut, not failed). One that calls a tool is not
  // warmed, as the results that follow it extend it as it was sampled; it only makes what waits for
  // its conversation obsolete. `session`: the request's session key, may be empty.
  void reply_ended(std::shared_ptr<const ChatRequest> request, ChatMessage reply, Prompt prompt,
                   Tokens reply_tokens, std::string session);

  // Gives up what waits and what runs, and ends the thread. Idempotent; one thread.
  void stop();

  // Re-warms handed in so far. Any thread.
  [[nodiscard]] std::uint64_t submitted() const { return submitted_; }

 private:
  struct Job {
    std::shared_ptr<const ChatRequest> request;
    ChatMessage reply;
    Prompt prompt;
    Tokens reply_tokens;
    std::string session;
  };
  class Sink;

  void run();
  void warm(const Job& job);

  const RewarmerParts parts_;
  const Clock& clock_;
  const RewarmerOptions options_;
  std::shared_ptr<std::atomic<bool>> given_up_;  // asked by the sinks, which may outlive this
  std::atomic<std::uint64_t> submitted_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job> jobs_;    // guarded by mutex_; oldest first
  bool stopping_ = false;  // guarded by mutex_

  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace samovar
