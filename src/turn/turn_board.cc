#include "turn/turn_board.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace samovar {

const char* to_string(LivePhase phase) {
  switch (phase) {
    case LivePhase::queue:
      return "queue";
    case LivePhase::restore:
      return "restore";
    case LivePhase::prefill:
      return "prefill";
    case LivePhase::decode:
      return "decode";
  }
  return "";
}

// --- TurnOnBoard -------------------------------------------------------------------------------

Micros& TurnOnBoard::time_of(LivePhase phase, LiveView& view) {
  switch (phase) {
    case LivePhase::queue:
      return view.queue;
    case LivePhase::restore:
      return view.restore;
    case LivePhase::prefill:
      return view.prefill;
    case LivePhase::decode:
      break;
  }
  return view.decode;
}

void TurnOnBoard::enter(LivePhase phase, Micros now) {
  if (!done_) time_of(view_.phase, view_) += std::max<Micros>(0, now - since_);
  view_.phase = phase;
  since_ = now;
}

void TurnOnBoard::on_event(const TurnEvent& event, Micros now) {
  const std::scoped_lock lock(mutex_);
  if (const auto* restoring = std::get_if<TurnRestoring>(&event)) {
    enter(LivePhase::restore, now);
    view_.done_tokens = restoring->done;
  } else if (const auto* started = std::get_if<TurnStarted>(&event)) {
    enter(LivePhase::prefill, now);
    view_.prompt_tokens = started->prompt_tokens;
    view_.done_tokens = view_.reused_tokens = started->reused_tokens;
    view_.source = started->source;
  } else if (const auto* progress = std::get_if<TurnProgress>(&event)) {
    view_.done_tokens = progress->done;
    view_.computed_tokens = std::max(0, progress->done - view_.reused_tokens);
  } else if (std::holds_alternative<TurnFinished>(event) ||
             std::holds_alternative<TurnFailed>(event)) {
    enter(view_.phase, now);
    done_ = true;
  } else {
    return;
  }
  ++view_.changes;
}

// The first token comes out of the last piece of prefill.
void TurnOnBoard::on_token(Micros now) {
  const std::scoped_lock lock(mutex_);
  if (view_.reply_tokens++ == 0) {
    enter(LivePhase::decode, now);
    view_.done_tokens = view_.prompt_tokens;
    view_.computed_tokens = view_.prompt_tokens - view_.reused_tokens;
  }
  ++view_.changes;
}

void TurnOnBoard::set_session(const std::string& session) {
  const std::scoped_lock lock(mutex_);
  view_.session = session;
  ++view_.changes;
}

void TurnOnBoard::set_miss(const Explanation& miss) {
  const std::scoped_lock lock(mutex_);
  view_.miss = {miss.cause, miss.tokens_lost, miss.seconds_lost};
  ++view_.changes;
}

LiveView TurnOnBoard::view(Micros now) const {
  const std::scoped_lock lock(mutex_);
  LiveView view = view_;
  if (!done_) time_of(view.phase, view) += std::max<Micros>(0, now - since_);
  return view;
}

// --- TurnBoard ---------------------------------------------------------------------------------

std::size_t TurnBoard::IdHash::operator()(const SessionId& id) const {
  std::size_t value = 0;
  std::memcpy(&value, id.bytes.data(), sizeof value);
  return value;
}

std::shared_ptr<TurnOnBoard> TurnBoard::add(LiveView view, Micros now) {
  auto turn = std::make_shared<TurnOnBoard>(std::move(view), now);
  const std::scoped_lock lock(mutex_);
  std::erase_if(live_, [](const auto& live) { return live.expired(); });
  live_.push_back(turn);
  return turn;
}

void TurnBoard::ended(const std::shared_ptr<TurnOnBoard>& turn) {
  std::string id = turn->view(0).id;
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find_if(live_, [&](const auto& live) { return live.lock() == turn; });
  if (found == live_.end()) return;
  live_.erase(found);
  ended_.push_back({++ended_so_far_, std::move(id)});
  if (ended_.size() > kEndedMax) ended_.pop_front();
}

std::vector<LiveView> TurnBoard::live(Micros now, std::size_t most) const {
  std::vector<std::shared_ptr<TurnOnBoard>> turns;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& live : live_) {
      if (turns.size() == most) break;
      if (auto turn = live.lock()) turns.push_back(std::move(turn));
    }
  }
  std::vector<LiveView> views;
  views.reserve(turns.size());
  for (const auto& turn : turns) views.push_back(turn->view(now));
  return views;
}

std::vector<TurnBoard::Ended> TurnBoard::ended_after(std::uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Ended> ended;
  std::ranges::copy_if(ended_, std::back_inserter(ended),
                       [&](const Ended& turn) { return turn.number > number; });
  return ended;
}

std::uint64_t TurnBoard::ended_so_far() const {
  const std::scoped_lock lock(mutex_);
  return ended_so_far_;
}

void TurnBoard::name_session(const SessionId& id, const std::string& session) {
  if (!id.known()) return;
  const std::scoped_lock lock(mutex_);
  if (sessions_.insert_or_assign(id, session).second) named_.push_back(id);
  if (named_.size() <= kSessionsMax) return;
  sessions_.erase(named_.front());
  named_.pop_front();
}

std::optional<std::string> TurnBoard::session_named(const SessionId& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace samovar
