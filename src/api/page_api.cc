#include "api/page_api.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "api/errors.h"
#include "api/json_response.h"
#include "api/json_text.h"
#include "api/page_sessions.h"
#include "api/turn_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLiveMax = 256;
constexpr int kTurnsOfSessions = 1000;

// A picture that took long, because the store holds very much, serves so many times as long.
constexpr Micros kPictureRest = 20;

HttpResponse fresh_json(std::string text) {
  HttpResponse response = json_response(std::move(text));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

// Its place among the listeners, from when it was let in until its response is gone.
class Seat {
 public:
  explicit Seat(std::shared_ptr<std::atomic<int>> taken) : taken_(std::move(taken)) { ++*taken_; }
  ~Seat() { --*taken_; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  const std::shared_ptr<std::atomic<int>> taken_;
};

}  // namespace

// What one listener was told, and what is new to it.
class PageApi::Listener {
 public:
  explicit Listener(const PageApi& api)
      : api_(api), ended_(api.parts_.records.board().ended_so_far()) {}

  [[nodiscard]] std::string news(bool last) {
    out_.clear();
    const Micros now = api_.parts_.clock.now();
    tell_state(now, last);
    tell_turns(now);
    tell_ended();
    return std::move(out_);
  }

 private:
  struct Told {
    std::uint64_t changes = 0;
    Micros at = 0;
  };

  void event(std::string_view name, const std::string& data) {
    out_ += "event: ";
    out_ += name;
    out_ += "\ndata: " + data + "\n\n";
  }

  // Times and live turns change always; the latter have events of their own.
  void tell_state(Micros now, bool at_once) {
    const PageTiming& timing = api_.parts_.timing;
    if (told_state_ && !at_once && now - looked_at_ < timing.state) return;
    looked_at_ = now;
    const Json state = state_json(api_.parts_.facts, api_.state_now());
    Json lasting = state;
    lasting.erase("turns");
    lasting["server"].erase("uptime_seconds");
    std::string text = json_text(lasting);
    if (told_state_ && !at_once && text == lasting_ && now - told_at_ < timing.quiet) return;
    told_state_ = true;
    told_at_ = now;
    lasting_ = std::move(text);
    event("state", json_text(state));
  }

  void tell_turns(Micros now) {
    std::unordered_map<std::string, Told> told;
    for (const LiveView& turn : api_.parts_.records.board().live(now, kLiveMax)) {
      const auto before = turns_.find(turn.id);
      const bool due = before == turns_.end() || before->second.changes != turn.changes ||
                       now - before->second.at >= api_.parts_.timing.state;
      if (due) event("turn", json_text(live_turn_json(turn)));
      told[turn.id] = due ? Told{turn.changes, now} : before->second;
    }
    turns_ = std::move(told);
  }

  void tell_ended() {
    for (const TurnBoard::Ended& ended : api_.parts_.records.board().ended_after(ended_)) {
      ended_ = ended.number;
      const auto found = api_.parts_.records.ledger().find(ended.id);
      if (found && *found) event("ended", json_text(turn_json(**found)));
    }
  }

  const PageApi& api_;
  std::uint64_t ended_;  // the number of the last one that was told
  std::unordered_map<std::string, Told> turns_;
  bool told_state_ = false;
  Micros looked_at_ = 0;
  Micros told_at_ = 0;
  std::string lasting_;
  std::string out_;
};

PageApi::PageApi(Parts parts) : parts_(std::move(parts)), started_(parts_.clock.now()) {}

PageState PageApi::state_now() const {
  const Micros now = parts_.clock.now();
  return {.uptime = now - started_,
          .ready = parts_.ready(),
          .figures = parts_.figures(),
          .rss_bytes = parts_.rss_bytes(),
          .store = parts_.store_stats(),
          .turns = parts_.records.board().live(now, kLiveMax)};
}

HttpResponse PageApi::state() const {
  return fresh_json(json_text(state_json(parts_.facts, state_now())));
}

HttpResponse PageApi::sessions() {
  const std::scoped_lock lock(sessions_mutex_);
  if (sessions_text_.empty() || parts_.clock.now() >= sessions_until_) {
    const auto memory = parts_.look();  // waiting for the engine is no work
    const Micros began = parts_.clock.now();
    sessions_text_ = make_sessions_text(memory.get());
    const Micros now = parts_.clock.now();
    // Without memory it is half a picture: the next one asks again soon.
    const Micros rest = memory == nullptr ? 0 : kPictureRest * (now - began);
    sessions_until_ = now + std::max(parts_.timing.picture, rest);
  }
  return fresh_json(sessions_text_);
}

std::string PageApi::make_sessions_text(const ResidentPicture* memory) const {
  const StorePicture store = parts_.store_picture();
  const auto turns = parts_.records.ledger().list({.limit = kTurnsOfSessions});
  const std::vector<TurnRecord> none;
  TurnBoard& board = parts_.records.board();
  return json_text(sessions_json(
      parts_.facts,
      make_sessions({.memory = memory,
                     .store = store,
                     .turns = turns ? *turns : none,
                     .name_of = [&board](const SessionId& id) { return board.session_named(id); },
                     .now = parts_.clock.now(),
                     .wall_now = parts_.clock.wall_seconds()})));
}

HttpResponse PageApi::events(const HttpRequest& request) {
  {
    // Let in now, it would be let go at once, and ask again.
    const std::scoped_lock lock(mutex_);
    if (closed_) {
      return error_response({ErrorKind::unavailable, "the server is shutting down", "",
                             "try again once it has started anew"});
    }
  }
  auto seat = std::make_shared<Seat>(listeners_);
  if (*listeners_ > parts_.listeners_max) {
    return error_response(
        {ErrorKind::unavailable,
         std::to_string(parts_.listeners_max) + " clients listen to events already", "",
         "close a page, or ask for /v1/samovar/state now and then"});
  }
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  if (request.method == "HEAD") return response;
  response.stream = [this, seat = std::move(seat)](BodyWriter& writer) { listen(writer); };
  return response;
}

void PageApi::listen(BodyWriter& writer) {
  Listener listener(*this);
  bool last = false;
  while (!writer.client_gone()) {
    const std::string news = listener.news(last);
    if ((!news.empty() && !writer.write(news)) || last) return;
    last = !pause();
  }
}

bool PageApi::pause() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::microseconds(parts_.timing.poll),
                            [this] { return closed_; });
}

void PageApi::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace samovar
