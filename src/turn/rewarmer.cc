#include "turn/rewarmer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/log.h"
#include "prefix/shared_prefix.h"

namespace samovar {

// Nobody reads what a re-warm reports: the scheduler's figures have it.
class Rewarmer::Sink final : public TurnSink {
 public:
  explicit Sink(std::shared_ptr<const std::atomic<bool>> given_up)
      : given_up_(std::move(given_up)) {}
  void on_event(TurnEvent event) override { (void)event; }
  [[nodiscard]] bool cancelled() const override { return *given_up_; }

 private:
  std::shared_ptr<const std::atomic<bool>> given_up_;
};

Rewarmer::Rewarmer(RewarmerParts parts, const Clock& clock, RewarmerOptions options)
    : parts_(std::move(parts)),
      clock_(clock),
      options_(options),
      given_up_(std::make_shared<std::atomic<bool>>(false)),
      thread_([this] { run(); }) {}

Rewarmer::~Rewarmer() { stop(); }

void Rewarmer::reply_ended(std::shared_ptr<const ChatRequest> request, ChatMessage reply,
                           Prompt prompt, Tokens reply_tokens, std::string session) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return;
  std::erase_if(jobs_, [&](const Job& job) {
    return (!session.empty() && job.session == session) || same_conversation(job.prompt, prompt);
  });
  if (!reply.tool_calls.empty()) return;
  if (jobs_.size() >= options_.queue_max) jobs_.pop_front();
  jobs_.push_back({.request = std::move(request),
                   .reply = std::move(reply),
                   .prompt = std::move(prompt),
                   .reply_tokens = std::move(reply_tokens),
                   .session = std::move(session)});
  changed_.notify_all();
}

void Rewarmer::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (jobs_.empty()) {
      changed_.wait(lock);
    } else if (!parts_.quiet()) {
      changed_.wait_for(lock, std::chrono::microseconds(options_.poll));
    } else {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      try {
        warm(job);
      } catch (const std::exception& error) {
        log_debug("re-warm: {}", error.what());
      }
      lock.lock();
    }
  }
}

void Rewarmer::warm(const Job& job) {
  const Micros began = clock_.now();
  const Replied replied{.request = *job.request,
                        .reply = job.reply,
                        .prompt = job.prompt,
                        .reply_tokens = job.reply_tokens};
  auto prompt = rewarm_prompt(replied, parts_.render, options_.departed_min);
  if (!prompt) return log_debug("re-warm: {}", prompt.error().describe());
  if (!*prompt) return;
  TurnRequest turn;
  turn.kind = TurnKind::rewarm;
  turn.prompt = std::move(**prompt);
  turn.session_key = job.session;
  turn.arrived = began;
  turn.render_time = clock_.now() - began;
  const Status taken = parts_.submit(std::move(turn), std::make_shared<Sink>(given_up_));
  if (!taken) return log_debug("re-warm: {}", taken.error().describe());
  ++submitted_;
}

void Rewarmer::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  *given_up_ = true;
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace samovar
