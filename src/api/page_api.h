// What the page asks for: docs/page-api.md.
//
//   GET /v1/samovar/state      the server as it stands
//   GET /v1/samovar/sessions   sessions, and the tree of what memory and disk hold
//   GET /v1/samovar/events     both turns and state as they change, as server-sent events
//
// Thread-safe. A listener holds the HTTP thread that serves it, so there is a bound on them; it is
// written to by that thread only, so a slow one keeps nobody waiting. What costs something, the
// picture of memory and store, is made at most once a second, and only if somebody asks. Errors in
// OpenAI's form: unavailable (too many listen, or the server shuts down).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "api/http_types.h"
#include "api/page_json.h"
#include "base/clock.h"
#include "sched/resident_picture.h"
#include "store/store_picture.h"
#include "turn/turn_records.h"

namespace samovar {

struct PageTiming {
  Micros poll = 100 * kMillisecond;  // how often listeners look: ten events a turn and second
  Micros state = 1 * kSecond;        // between looks at the state
  Micros quiet = 15 * kSecond;       // the state is sent at the latest
  Micros picture = 1 * kSecond;      // how long a picture serves at least
};

class PageApi {
 public:
  // All must outlive this object and every response made by it.
  struct Parts {
    TurnRecords& records;
    const Clock& clock;
    PageFacts facts;
    std::function<bool()> ready;
    std::function<SchedulerFigures()> figures;
    std::function<std::uint64_t()> rss_bytes;
    std::function<std::shared_ptr<const ResidentPicture>()> look;  // may wait; nullptr: not now
    std::function<std::optional<StoreStats>()> store_stats;        // nullopt: no store
    std::function<StorePicture()> store_picture;                   // empty without one
    int listeners_max = 16;
    PageTiming timing = {};
  };

  explicit PageApi(Parts parts);

  [[nodiscard]] HttpResponse state() const;
  [[nodiscard]] HttpResponse sessions();
  [[nodiscard]] HttpResponse events(const HttpRequest& request);

  // Listeners are told the state once more and let go. New ones are refused.
  void close();

  [[nodiscard]] int listeners() const { return *listeners_; }

 private:
  class Listener;

  [[nodiscard]] PageState state_now() const;
  [[nodiscard]] std::string make_sessions_text(const ResidentPicture* memory) const;
  void listen(BodyWriter& writer);
  bool pause();  // false: the end

  const Parts parts_;
  const Micros started_;
  const std::shared_ptr<std::atomic<int>> listeners_ = std::make_shared<std::atomic<int>>(0);

  std::mutex sessions_mutex_;  // held while a picture is made: others wait for it
  std::string sessions_text_;  // guarded by sessions_mutex_
  Micros sessions_until_ = 0;  // guarded by sessions_mutex_: how long it serves

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace samovar
