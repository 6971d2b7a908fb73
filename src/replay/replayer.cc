#include "replay/replayer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/executor.h"
#include "replay/chat_json.h"

namespace samovar::replay {
namespace {

constexpr Micros kLook = 50 * kMillisecond;  // how often a waiting thread looks around

bool is_sampled_by_chance(const TraceSettings& settings) {
  return settings.temperature.value_or(1) > 0;
}

// Whether a template may leave out reasoning now that it did not leave out before: that of the loop
// which a new message of the user ends.
bool ends_loop_with_reasoning(const std::vector<ChatMessage>& messages, std::size_t fresh) {
  const auto border = messages.end() - static_cast<std::ptrdiff_t>(fresh);
  if (std::ranges::find(border, messages.end(), Role::user, &ChatMessage::role) == messages.end()) {
    return false;
  }
  for (auto message = border; message != messages.begin();) {
    --message;
    if (message->role == Role::user) return false;
    if (!message->reasoning.empty()) return true;
  }
  return false;
}

}  // namespace

// What the threads of one run share.
struct Replayer::Work {
  Work(const Trace& trace, ScheduleOptions options, Micros start)
      : schedule(trace, options, start), fed(trace.turns.size()) {
    run.turns.resize(trace.turns.size());
  }

  std::mutex mutex;
  std::condition_variable changed;
  Schedule schedule;                           // guarded by mutex
  ReplayRun run;                               // guarded by mutex, but for turns that have ended
  std::vector<std::unique_ptr<FedReply>> fed;  // likewise
  ReplayProgress progress;                     // guarded by mutex
  bool stopped = false;                        // guarded by mutex
};

Replayer::Replayer(const Trace& trace, bench::Target& target, const Clock& clock,
                   ReplayOptions options)
    : trace_(trace),
      histories_(trace),
      target_(target),
      clock_(clock),
      options_(std::move(options)) {}

ReplayRun Replayer::run(const Hooks& hooks) {
  const Micros start = clock_.now();
  Work work(trace_, options_.schedule, start);
  work.progress.turns = trace_.turns.size();
  if (options_.threads == 0) {
    this->work(work, hooks);
  } else {
    ThreadPool pool(static_cast<int>(options_.threads), "replay");
    for (std::size_t i = 0; i < options_.threads; ++i) {
      pool.post([&] { this->work(work, hooks); });
    }
    pool.stop();
  }
  work.run.took = clock_.now() - start;
  if (first_.empty()) {
    first_ = work.run.turns;
    first_fed_ = std::move(work.fed);
  }
  return std::move(work.run);
}

void Replayer::work(Work& work, const Hooks& hooks) {
  std::unique_lock lock(work.mutex);
  while (!work.schedule.done() && !work.stopped) {
    if (hooks.stop && hooks.stop()) {
      work.stopped = true;
      break;
    }
    const auto due = work.schedule.next_at();
    const Micros now = clock_.now();
    if (const auto turn = work.schedule.next(now)) {
      work.run.late_max = std::max(work.run.late_max, now - *due);
      ++work.progress.running;
      lock.unlock();
      ask(*turn, work, hooks);
      lock.lock();
      continue;
    }
    if (options_.threads == 0 && hooks.wait && due) {
      hooks.wait(*due);
      continue;
    }
    const Micros most = due ? std::clamp<Micros>(*due - now, 0, kLook) : kLook;
    work.changed.wait_for(lock, std::chrono::microseconds(most));
  }
  work.changed.notify_all();
}

void Replayer::ask(std::size_t turn, Work& work, const Hooks& hooks) {
  const TraceTurn& line = trace_.turns[turn];
  // Turns that this one follows have ended: what they left does not change any more.
  const auto messages = histories_.messages(
      turn, [&](std::size_t of) -> const FedReply* { return work.fed[of].get(); });
  TraceSettings settings = histories_.settings(turn);
  if (options_.greedy) settings.temperature = 0;
  bench::Ask ask;
  ask.body = completion_body(messages, histories_.tools(turn), settings, options_.model,
                             options_.sessions_named ? line.session : "");
  ask.timeout = options_.timeout;
  if (line.reply && line.reply->cut) {
    ask.pieces =
        static_cast<std::size_t>(std::max<std::int64_t>(1, line.reply->tokens.value_or(1)));
  }
  const bench::Answer answer = target_.ask(ask, hooks.stop);
  TurnResult result = read_answer(answer);
  count_fresh(followed(turn, work, messages), answer, result);

  const std::scoped_lock lock(work.mutex);
  const bool whole = result.outcome != TurnOutcome::failed;
  // A reply that was cut is not as long in every run: the later ones go on with the first one's.
  const bool fed_again = result.outcome == TurnOutcome::cut && !first_.empty() && first_fed_[turn];
  if (whole) {
    work.fed[turn] = std::make_unique<FedReply>(fed_again ? *first_fed_[turn] : feed(turn, result));
  }
  work.run.turns[turn] = std::move(result);
  if (!first_.empty() && whole) compare_with_first(turn, work);
  work.schedule.ended(turn, clock_.now(), whole);
  --work.progress.running;
  work.progress.failed += whole ? 0 : 1;
  work.progress.done = work.progress.turns - work.schedule.left();
  if (hooks.progress) hooks.progress(work.progress);
  work.changed.notify_all();
}

FedReply Replayer::feed(std::size_t turn, const TurnResult& result) const {
  const auto& recorded = trace_.turns[turn].reply;
  if (!options_.recorded_replies || !recorded) {
    return fit_reply(result.reply, recorded ? &*recorded : nullptr);
  }
  FedReply fed;
  fed.message = recorded->message;
  fed.changed = true;
  return fed;
}

bool Replayer::same_settings(std::size_t turn) const {
  const TraceTurn& line = trace_.turns[turn];
  const std::size_t before = histories_.index(line.after);
  const TraceSettings& now = histories_.settings(turn);
  const TraceSettings& then = histories_.settings(before);
  if (now.template_arguments != then.template_arguments ||
      now.enable_thinking != then.enable_thinking) {
    return false;
  }
  return !line.tools || tools_text(*line.tools) == tools_text(histories_.tools(before));
}

Followed Replayer::followed(std::size_t turn, const Work& work,
                            const std::vector<ChatMessage>& messages) const {
  const TraceTurn& line = trace_.turns[turn];
  Followed followed;
  if (line.after.empty()) return followed;
  const std::size_t before = histories_.index(line.after);
  followed.before = &work.run.turns[before];
  followed.extends = line.keep == histories_.count(before) && same_settings(turn);
  const FedReply* fed = work.fed[before].get();
  followed.returned = line.returned != Returned::no && fed != nullptr && !fed->changed;
  const bool client_drops = line.returned == Returned::without_reasoning && fed != nullptr &&
                            !fed->message.reasoning.empty();
  followed.reasoning_may_go =
      client_drops || ends_loop_with_reasoning(messages, line.messages.size());
  return followed;
}

void Replayer::compare_with_first(std::size_t turn, Work& work) const {
  const TraceTurn& line = trace_.turns[turn];
  TurnResult& result = work.run.turns[turn];
  if (!options_.greedy && is_sampled_by_chance(histories_.settings(turn))) return;
  if (first_[turn].outcome == TurnOutcome::failed ||
      first_[turn].outcome == TurnOutcome::left_out) {
    return;
  }
  if (!line.after.empty()) {
    const Sameness before = work.run.turns[histories_.index(line.after)].sameness;
    if (before == Sameness::differs || before == Sameness::after_difference) {
      // With recorded replies the request is the same all the same.
      if (!options_.recorded_replies) {
        result.sameness = Sameness::after_difference;
        return;
      }
    }
  }
  compare(first_[turn], result);
}

}  // namespace samovar::replay
