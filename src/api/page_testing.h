// For the tests of the page's data: a page over figures, pictures and turns that a test sets.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/api_doubles.h"
#include "api/page_api.h"
#include "base/executor.h"

namespace samovar::test {

class PageFixture : public testing::Test {
 protected:
  // Makes the page anew, with so many listeners at most.
  void make_page(int listeners_max = 16) {
    page_ =
        std::make_unique<PageApi>(PageApi::Parts{.records = records_,
                                                 .clock = clock_,
                                                 .facts = facts_,
                                                 .ready = [this] { return ready_; },
                                                 .figures = [this] { return figures_; },
                                                 .rss_bytes = [] { return std::uint64_t{1000}; },
                                                 .look =
                                                     [this] {
                                                       ++looks_;
                                                       clock_.advance(looking_takes_);
                                                       return memory_;
                                                     },
                                                 .store_stats = [this] { return stats_; },
                                                 .store_picture =
                                                     [this] {
                                                       clock_.advance(picture_takes_);
                                                       return store_;
                                                     },
                                                 .listeners_max = listeners_max,
                                                 .timing = {.poll = 0}});
  }
  void SetUp() override {
    facts_.options = {{"--parallel", "2"}};
    facts_.model_id = "tiny";
    facts_.kv_bytes_per_token = 10;
    make_page();
  }

  // A turn that a client asked for in `session`, with a prompt of `tokens`.
  std::shared_ptr<TurnRecorder> begin(const std::string& id, const std::string& session = "",
                                      Position tokens = 5) {
    RenderedChat rendered;
    for (Position i = 0; i < tokens; ++i) rendered.prompt.tokens.push_back(i);
    rendered.prompt.primer_start = tokens - 1;
    rendered.text = "a secret";
    TurnOrigin origin;
    origin.id = id;
    origin.dialect = "chat.completions";
    origin.session_key = session;
    auto chat = std::make_shared<ChatRequest>();
    chat->messages.push_back({.role = Role::user, .content = "a secret"});
    origin.chat = std::move(chat);
    return records_.begin(std::move(origin), rendered);
  }
  static TurnStarted started(Position prompt, Position reused, const std::string& session = "") {
    TurnStarted event{
        .prompt_tokens = prompt, .reused_tokens = reused, .source = ReuseSource::anchor};
    event.kept_as = session_of_key(session).hex();
    return event;
  }
  void finish(TurnRecorder& turn, Position prompt = 5) {
    TurnFinished finished;
    finished.timings.prompt_tokens = finished.timings.computed_tokens = prompt;
    turn.on_event(finished);
    turn.finished(finished, {"stop", {.role = Role::assistant, .content = "x"}, "{}"});
  }
  [[nodiscard]] Json sessions() const { return Json::parse(page_->sessions().body); }

  FakeClock clock_;
  std::unique_ptr<Ledger> ledger_ = Ledger::open({}, clock_);
  ThreadPool threads_{1, "test"};
  TurnRecords records_{
      {.ledger = *ledger_,
       .clock = clock_,
       .background = threads_,
       .model = "m",
       .model_name = "m",
       .template_id = "t",
       .read_reply = [](const SavedSyntax&, TokenSpan) { return std::optional<ChatMessage>(); }}};
  PageFacts facts_;
  bool ready_ = true;
  SchedulerFigures figures_;
  int looks_ = 0;
  Micros looking_takes_ = 0;
  Micros picture_takes_ = 0;  // of the store
  std::shared_ptr<const ResidentPicture> memory_ = std::make_shared<const ResidentPicture>();
  std::optional<StoreStats> stats_;
  StorePicture store_;
  std::unique_ptr<PageApi> page_;
};

// One event of a stream.
struct Event {
  std::string name;
  Json data;
};

inline std::vector<Event> events_of(const std::string& stream) {
  std::vector<Event> events;
  std::size_t at = 0;
  for (std::size_t end; (end = stream.find("\n\n", at)) != std::string::npos; at = end + 2) {
    const std::string text = stream.substr(at, end - at);
    const std::size_t line = text.find('\n');
    EXPECT_TRUE(text.starts_with("event: ")) << text;
    EXPECT_EQ(text.substr(line + 1, 6), "data: ") << text;
    EXPECT_EQ(text.find('\n', line + 1), std::string::npos) << text;
    events.push_back({text.substr(7, line - 7), Json::parse(text.substr(line + 7))});
  }
  return events;
}

inline std::vector<std::string> names_of(const std::vector<Event>& events) {
  std::vector<std::string> names;
  for (const Event& event : events) names.push_back(event.name);
  return names;
}

}  // namespace samovar::test
