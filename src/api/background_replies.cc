#include "api/background_replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json_text.h"

namespace samovar {

BackgroundReplies::BackgroundReplies(Executor& executor, BackgroundLimits limits)
    : executor_(executor), limits_(limits) {}

Status BackgroundReplies::start(
    const std::string& id, const std::function<Result<std::unique_ptr<RunningReply>>()>& make) {
  {
    const std::scoped_lock lock(mutex_);
    if (running_ == limits_.running) {
      return fail(ErrorKind::overloaded,
                  fmt::format("{} background responses run already", running_), "background",
                  "wait for one to end, or send the request without it");
    }
    ++running_;
  }
  auto reply = make();
  if (!reply) {
    ended();
    return std::unexpected(reply.error());
  }
  auto entry = std::make_shared<Entry>(id, limits_.bytes_each);
  {
    const std::scoped_lock lock(mutex_);
    entries_.push_back(entry);
  }
  executor_.post(
      [this, entry, reply = std::move(*reply)]() mutable { run(*entry, std::move(reply)); });
  return {};
}

void BackgroundReplies::run(Entry& entry, std::unique_ptr<RunningReply> reply) {
  entry.log.append(reply->open());
  while (reply != nullptr) {
    if (entry.cancelled) reply->cancel();
    const std::string bytes = reply->step();
    if (reply->done()) reply.reset();  // recorded, before anybody hears of the end
    entry.log.append(bytes);
  }
  entry.log.end();
  ended();
}

void BackgroundReplies::ended() {
  const std::scoped_lock lock(mutex_);
  --running_;
  std::size_t bytes = 0;
  for (const auto& entry : entries_) bytes += entry->log.bytes();
  for (auto entry = entries_.begin(); entry != entries_.end() && bytes > limits_.bytes;) {
    const bool over = (*entry)->log.ended();
    if (over) bytes -= (*entry)->log.bytes();
    entry = over ? entries_.erase(entry) : std::next(entry);
  }
}

std::shared_ptr<EventLog> BackgroundReplies::events(const std::string& id) const {
  auto entry = find(id);
  if (entry == nullptr) return nullptr;
  EventLog* log = &entry->log;
  return {std::move(entry), log};
}

bool BackgroundReplies::cancel(const std::string& id) {
  const auto entry = find(id);
  if (entry == nullptr || entry->log.ended()) return false;
  entry->cancelled = true;
  return true;
}

bool BackgroundReplies::cancelled(const std::string& id) const {
  const auto entry = find(id);
  return entry != nullptr && entry->cancelled;
}

void BackgroundReplies::forget(const std::string& id) {
  cancel(id);
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry->id == id; });
}

std::shared_ptr<BackgroundReplies::Entry> BackgroundReplies::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(entries_, id, [](const auto& entry) { return entry->id; });
  return found == entries_.end() ? nullptr : *found;
}

namespace {

// The numbers of the stream's events are those of the log, so this one has none of its own.
std::string lost_event(std::size_t from) {
  return "event: error\ndata: {\"type\":\"error\",\"sequence_number\":" + std::to_string(from) +
         ",\"code\":\"events_gone\",\"message\":" +
         json_string(fmt::format("event {} is not kept any more: fetch the response", from)) +
         ",\"param\":\"starting_after\"}\n\n";
}

void follow(EventLog& events, std::size_t from, const Clock& clock, const WaitTiming& timing,
            BodyWriter& writer) {
  Micros last_write = clock.now();
  while (!writer.client_gone()) {
    auto piece = events.read(from, timing.poll);
    if (piece.lost) {
      (void)writer.write(lost_event(from));
      return;
    }
    if (piece.bytes.empty() && clock.now() - last_write >= timing.keepalive) {
      piece.bytes = ": keepalive\n\n";
    }
    if (!piece.bytes.empty()) {
      if (!writer.write(piece.bytes)) return;
      last_write = clock.now();
    }
    from = piece.next;
    if (piece.ended) return;
  }
}

}  // namespace

HttpResponse follow_events(std::shared_ptr<EventLog> events, std::size_t from, const Clock& clock,
                           WaitTiming timing) {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  response.stream = [events = std::move(events), from, &clock, timing](BodyWriter& writer) {
    follow(*events, from, clock, timing, writer);
  };
  return response;
}

}  // namespace samovar
