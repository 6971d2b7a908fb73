#include "replay/schedule.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace samovar::replay {
namespace {

constexpr double kPauseMax = 1e17;  // microseconds, some 3000 years: sums of two stay whole numbers

}  // namespace

Schedule::Schedule(const Trace& trace, ScheduleOptions options, Micros start)
    : options_(options),
      start_(start),
      turns_(trace.turns.size()),
      sessions_(trace.turns.size()),
      left_(trace.turns.size()) {
  link(trace);
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    Session& session = sessions_[session_of(i)];
    ++session.open;
    if (turns_[i].waits_for > 0) continue;
    session.beginnings.emplace_back(start + scaled(trace.turns[i].at_ms), i);
  }
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i].open == 0) continue;
    std::ranges::sort(sessions_[i].beginnings);
    sessions_[i].at = sessions_[i].beginnings.front().first;
    to_come_.push_back(i);
  }
  std::ranges::sort(to_come_, [&](std::size_t a, std::size_t b) {
    return std::pair(sessions_[a].at, a) > std::pair(sessions_[b].at, b);
  });
  begin_sessions(start);
}

void Schedule::link(const Trace& trace) {
  std::map<std::string, std::size_t, std::less<>> index;
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    const TraceTurn& line = trace.turns[i];
    Turn& turn = turns_[i];
    index[line.id] = i;
    turn.session = i;
    turn.delay = scaled(line.wait_ms);
    std::set<std::size_t> before;
    for (const std::string* id : {&line.parent, &line.after}) {
      if (!id->empty()) before.insert(index.at(*id));
    }
    for (const std::string& id : line.joins) before.insert(index.at(id));
    for (const std::size_t each : before) {
      turns_[each].followers.push_back(i);
      // The lower of two first turns is the session's.
      const std::size_t a = session_of(each);
      const std::size_t b = session_of(i);
      turns_[std::max(a, b)].session = std::min(a, b);
    }
    turn.waits_for = before.size();
  }
}

std::size_t Schedule::session_of(std::size_t turn) {
  while (turns_[turn].session != turn) {
    turns_[turn].session = turns_[turns_[turn].session].session;  // shortens the way
    turn = turns_[turn].session;
  }
  return turn;
}

Micros Schedule::scaled(std::int64_t ms) const {
  if (options_.speed <= 0) return 0;
  const double scaled = static_cast<double>(ms) * kMillisecond / options_.speed;
  return static_cast<Micros>(std::min(scaled, kPauseMax));
}

void Schedule::begin_sessions(Micros now) {
  while (!to_come_.empty() && (options_.sessions == 0 || running_ < options_.sessions)) {
    for (const auto& [at, turn] : sessions_[to_come_.back()].beginnings) {
      due_.emplace(std::max(at, now), turn);
    }
    to_come_.pop_back();
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
  if (--sessions_[session_of(turn)].open == 0) --running_;
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
