#include "replay/schedule.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace samovar::replay {

Schedule::Schedule(const Trace& trace, ScheduleOptions options, Micros start)
    : options_(options), start_(start), turns_(trace.turns.size()), open_(trace.turns.size()) {
  std::map<std::string, std::size_t, std::less<>> index;
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    const TraceTurn& line = trace.turns[i];
    Turn& turn = turns_[i];
    index[line.id] = i;
    turn.root = i;
    turn.delay = scaled(line.wait_ms);
    std::set<std::size_t> before;
    for (const std::string* id : {&line.parent, &line.after}) {
      if (id->empty()) continue;
      before.insert(index.at(*id));
      turn.root = turns_[index.at(*id)].root;
    }
    for (const std::string& id : line.joins) before.insert(index.at(id));
    for (const std::size_t each : before) turns_[each].followers.push_back(i);
    turn.waits_for = before.size();
    ++open_[turn.root];
    if (before.empty()) later_.emplace_back(start + scaled(line.at_ms), i);
  }
  left_ = turns_.size();
  std::ranges::sort(later_, std::greater<>());
  begin_sessions(start);
}

Micros Schedule::scaled(std::int64_t ms) const {
  if (options_.speed <= 0) return 0;
  return static_cast<Micros>(static_cast<double>(ms) * kMillisecond / options_.speed);
}

void Schedule::begin_sessions(Micros now) {
  while (!later_.empty() && (options_.sessions == 0 || running_ < options_.sessions)) {
    const auto [at, turn] = later_.back();
    later_.pop_back();
    due_.emplace(std::max(at, now), turn);
    ++running_;
  }
}

std::optional<std::size_t> Schedule::next(Micros now) {
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  const std::size_t turn = due_.begin()->second;
  due_.erase(due_.begin());
  return turn;
}

std::optional<Micros> Schedule::next_at() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

// A session is over with its last turn.
void Schedule::leave(std::size_t turn) {
  turns_[turn].over = true;
  --left_;
  if (--open_[turns_[turn].root] == 0) --running_;
}

void Schedule::give_up(std::size_t turn) {
  std::vector<std::size_t> lost = turns_[turn].followers;
  while (!lost.empty()) {
    const std::size_t each = lost.back();
    lost.pop_back();
    if (turns_[each].over) continue;
    given_up_.push_back(each);
    leave(each);
    lost.insert(lost.end(), turns_[each].followers.begin(), turns_[each].followers.end());
  }
}

void Schedule::ended(std::size_t turn, Micros now, bool whole) {
  if (!whole) give_up(turn);
  leave(turn);
  for (const std::size_t each : turns_[turn].followers) {
    Turn& follower = turns_[each];
    if (follower.over || --follower.waits_for > 0) continue;
    due_.emplace(now + follower.delay, each);
  }
  begin_sessions(now);
}

}  // namespace samovar::replay
