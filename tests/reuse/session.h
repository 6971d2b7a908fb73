// What the tests of reuse on real architectures share: conversations, and a Session that answers
// them with the real engine, chat template, scheduler and, if asked for, store, without HTTP.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "chat/chat_format.h"
#include "chat/reply_memory.h"
#include "engine/engine_testing.h"
#include "fs/posix_fs.h"
#include "sched/scheduler.h"
#include "store/store.h"
#include "tests/support/turns.h"
#include "turn/rewarm_prompt.h"

namespace samovar {

// What the canonical split may cost on top of the new tokens.
inline constexpr Position kSplitCost = 128;
inline constexpr int kReplyTokens = 16;

inline std::string prose(int count, unsigned seed) {
  static const char* const kWordList[] = {
      "the", "server", "keeps", "a",     "file", "warm",  "and",  "reads", "every", "line",
      "of",  "code",   "until", "tests", "pass", "again", "with", "fewer", "tokens"};
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += random() % 15 == 0 ? ".\n" : " ";
    text += kWordList[random() % std::size(kWordList)];
    if (random() % 6 == 0) text += std::to_string(random() % 1000);
  }
  return text;
}

struct Answer {
  std::string text;
  Tokens reply;  // as sampled, the end token included
  TurnTimings timings;
  Position offered = 0;  // tokens of the prompt
  Position fresh = 0;    // of them, those nobody had computed
};

// Engine, chat template and scheduler; with `folder`, a store there too, on threads of its own.
// Destroying it is a clean restart if save() was called before, a crash otherwise.
class Session {
 public:
  Session(const std::string& model, Position cells, int parallel = 2,
          const std::string& folder = {}, Position anchor_grid = 1024) {
    EngineOptions options;
    options.model_path = model;
    options.cells = cells;
    options.sequences = 2 * parallel;
    options.parallel = parallel;
    options.threads = 1;  // several would stall one another on a busy machine
    engine_ = testing::open_or_fail(options);
    if (engine_ == nullptr) return;
    auto format = ChatFormat::create(engine_->raw_model(), {});
    if (!format) {
      ADD_FAILURE() << format.error().describe();
      return;
    }
    format_ = std::move(*format);
    if (!folder.empty()) open_store(folder);
    SchedulerOptions choice{.parallel = parallel, .anchor_grid = anchor_grid};
    choice.write_behind.quiet = 0;
    choice.write_behind.segment_tokens = 1024;
    scheduler_ = std::make_unique<Scheduler>(*engine_, system_clock(), choice,
                                             Persistence{store_.get(), engine_.get()});
  }
  ~Session() {
    scheduler_ = nullptr;
    if (store_ != nullptr) store_->close();
    readers_.stop();
    writer_.stop();
    catalog_.stop();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  [[nodiscard]] bool ok() const { return scheduler_ != nullptr; }
  [[nodiscard]] const Store* store() const { return store_.get(); }

  // Writes everything that a restart should find.
  void save() {
    scheduler_->save_all(60 * kSecond);
    EXPECT_TRUE(store_->drain(60 * kSecond));
  }

  Answer ask(const ChatRequest& chat) { return ask_together({chat}).front(); }

  // Hands all requests in at once and computes until every one has ended.
  std::vector<Answer> ask_together(const std::vector<ChatRequest>& chats) {
    std::vector<Answer> answers;
    std::vector<std::shared_ptr<RecordingSink>> sinks;
    for (const ChatRequest& chat : chats) {
      answers.emplace_back();
      sinks.push_back(submit(chat, answers.back()));
    }
    const auto ended = [&] {
      return std::ranges::all_of(sinks, [](const auto& sink) { return sink->ended(); });
    };
    while (!ended()) {
      if (!scheduler_->step()) std::this_thread::yield();  // a part of a restore is on its way
    }
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      EXPECT_TRUE(sinks[i]->finished.has_value());
      if (!sinks[i]->ended()) continue;
      answers[i].text = sinks[i]->reply;
      answers[i].reply = sinks[i]->sampled;
      answers[i].timings = sinks[i]->timings();
    }
    return answers;
  }

  // The reply to `chat` has ended: warms what the next message of the user will find as its
  // history. False: that is in memory already.
  bool rewarm(const ChatRequest& chat, const Answer& answer) {
    const RenderPrompt render = [this](const ChatRequest& request) -> Result<Prompt> {
      auto rendered = format_->render(request);
      if (!rendered) return std::unexpected(rendered.error());
      return std::move(rendered->prompt);
    };
    const ChatMessage reply = as_message(chat, answer);
    const auto asked = render(chat);
    auto prompt = rewarm_prompt(
        {.request = chat, .reply = reply, .prompt = *asked, .reply_tokens = answer.reply}, render,
        64);
    EXPECT_TRUE(prompt.has_value());
    if (!prompt || !*prompt) return false;
    TurnRequest request;
    request.kind = TurnKind::rewarm;
    request.prompt = std::move(**prompt);
    const auto sink = std::make_shared<RecordingSink>();
    scheduler_->add_rewarm(std::move(request), sink);
    while (!sink->ended()) scheduler_->step();
    EXPECT_TRUE(sink->finished.has_value());
    return true;
  }

  // A client that goes away when `part` of the prompt has been computed.
  void ask_and_leave(const ChatRequest& chat, double part) {
    Answer answer;
    const auto sink = submit(chat, answer);
    while (!sink->ended()) {
      scheduler_->step();
      const bool far = !sink->progress.empty() &&
                       sink->progress.back().done >= static_cast<Position>(part * answer.offered);
      if (far) sink->cancel = true;
    }
  }

  // From here on prompts contain this reply's own tokens.
  void remember(const ChatRequest& chat, const Answer& answer) {
    const auto rendered = format_->render(chat, &replies_);
    ASSERT_TRUE(rendered);
    replies_.remember(rendered->context, {}, format_->read_sampled(*rendered, answer.reply));
  }

  // What binds every reply, and how long it may be.
  std::string gbnf;
  int reply_tokens = kReplyTokens;

  [[nodiscard]] const ChatFormat& format() const { return *format_; }

  // The reply as a client gets it: reasoning and content apart.
  ChatMessage as_message(const ChatRequest& chat, const Answer& answer) {
    ReplyParser parser(format_->render(chat)->syntax);
    ChatMessage message{.role = Role::assistant};
    const auto take = [&](const std::vector<ReplyDelta>& deltas) {
      for (const ReplyDelta& delta : deltas) {
        message.content += delta.content;
        message.reasoning += delta.reasoning;
      }
    };
    take(parser.feed(answer.text));
    take(parser.finish());
    return message;
  }

 private:
  std::shared_ptr<RecordingSink> submit(const ChatRequest& chat, Answer& answer) {
    auto sink = std::make_shared<RecordingSink>();
    const auto rendered = format_->render(chat, &replies_);
    if (!rendered) {
      ADD_FAILURE() << rendered.error().describe();
      return sink;
    }
    answer.offered = rendered->prompt.size();
    answer.fresh = answer.offered - longest_match(rendered->prompt.tokens);
    TurnRequest request;
    request.prompt = rendered->prompt;
    request.sampling.temperature = 0.0;
    request.sampling.grammar.gbnf = gbnf;
    request.max_tokens = reply_tokens;
    request.arrived = system_clock().now();
    auto sampler = engine_->make_sampler(request.sampling, request.prompt.tokens);
    scheduler_->add(std::move(request), std::move(*sampler), sink);
    return sink;
  }

  void open_store(const std::string& folder) {
    StoreOptions options;
    options.folder = folder;
    options.size_max = std::uint64_t{1} << 30;
    options.model = Fingerprint{engine_->state_format().fingerprint};
    options.layout = engine_->state_format().layout;
    options.label = engine_->model().name;
    options.needs_snapshot = engine_->model().rewind == RewindKind::snapshot;
    auto store = Store::open(fs_, system_clock(), options, {writer_, readers_, catalog_});
    ASSERT_TRUE(store) << store.error().describe();
    store_ = std::move(*store);
    EXPECT_TRUE(store_->wait_ready(60 * kSecond));
  }

  [[nodiscard]] Position longest_match(const Tokens& tokens) const {
    Position longest = 0;
    for (SeqId id = 0; id < scheduler_->memory().sequences(); ++id) {
      const Tokens& held = scheduler_->memory().resident(id).tokens;
      const auto shared = std::ranges::mismatch(held, tokens).in1 - held.begin();
      longest = std::max(longest, static_cast<Position>(shared));
    }
    return longest;
  }

  ReplyMemory replies_;
  PosixFs fs_;
  ThreadPool readers_{2, "store-read"};
  ThreadPool writer_{1, "store-write"};
  ThreadPool catalog_{1, "store-catalog"};
  std::unique_ptr<LlamaEngine> engine_;
  std::unique_ptr<ChatFormat> format_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Scheduler> scheduler_;
};

// A conversation of about `tokens` tokens: a system prompt, then exchanges.
inline ChatRequest conversation(int tokens, unsigned seed) {
  ChatRequest chat;
  chat.messages.push_back({.role = Role::system, .content = prose(tokens / 8, seed)});
  const int exchanges = std::max(2, tokens / 1000);
  const int words_each = (tokens - tokens / 8) / exchanges / 2 * 3 / 4;
  for (int i = 0; i < exchanges; ++i) {
    const unsigned at = seed + 10 * static_cast<unsigned>(i);
    chat.messages.push_back({.role = Role::user, .content = prose(words_each, at + 1)});
    chat.messages.push_back({.role = Role::assistant, .content = prose(words_each, at + 2)});
  }
  chat.messages.push_back({.role = Role::user, .content = prose(30, seed + 3)});
  return chat;
}

inline void add_exchange(Session& session, ChatRequest& chat, const Answer& answer, unsigned seed) {
  chat.messages.push_back(session.as_message(chat, answer));
  chat.messages.push_back({.role = Role::user, .content = prose(25, seed)});
}

}  // namespace samovar
