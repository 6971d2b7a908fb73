// Goal: on real architectures, a follow-up computes its new tokens only, and a resumed prompt gives
// the same greedy bytes as the same prompt cold.
//
// Method: the real engine, chat template and scheduler, without HTTP, on random models with weights
// large enough that a wrong state shows. "New" is what follows the longest prefix shared with
// anything that the engine has computed. "Cold" is a fresh engine that sees only the last prompt.
#include <algorithm>
#include <random>

#include "chat/chat_format.h"
#include "engine/engine_testing.h"
#include "sched/scheduler.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

// What the canonical split may cost on top of the new tokens.
constexpr Position kSplitCost = 128;
constexpr int kReplyTokens = 16;

std::string prose(int count, unsigned seed) {
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
  TurnTimings timings;
  Position offered = 0;  // tokens of the prompt
  Position fresh = 0;    // of them, those nobody had computed
};

class Session {
 public:
  Session(const std::string& model, Position cells, int parallel = 2) {
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
    scheduler_ = std::make_unique<Scheduler>(
        *engine_, system_clock(), SchedulerOptions{.parallel = parallel, .anchor_grid = 1024});
  }
  [[nodiscard]] bool ok() const { return scheduler_ != nullptr; }

  Answer ask(const ChatRequest& chat) { return ask_together({chat}).front(); }

  // Hands all requests in at once and computes until every one has ended.
  std::vector<Answer> ask_together(const std::vector<ChatRequest>& chats) {
    std::vector<Answer> answers;
    std::vector<std::shared_ptr<RecordingSink>> sinks;
    for (const ChatRequest& chat : chats) {
      answers.emplace_back();
      sinks.push_back(submit(chat, answers.back()));
    }
    while (scheduler_->step()) {
    }
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      EXPECT_TRUE(sinks[i]->finished.has_value());
      if (!sinks[i]->ended()) continue;
      answers[i].text = sinks[i]->reply;
      answers[i].timings = sinks[i]->timings();
    }
    return answers;
  }

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
    const auto rendered = format_->render(chat);
    if (!rendered) {
      ADD_FAILURE() << rendered.error().describe();
      return sink;
    }
    answer.offered = rendered->prompt.size();
    answer.fresh = answer.offered - longest_match(rendered->prompt.tokens);
    TurnRequest request;
    request.prompt = rendered->prompt;
    request.sampling.temperature = 0.0;
    request.max_tokens = kReplyTokens;
    request.arrived = system_clock().now();
    auto sampler = engine_->make_sampler(request.sampling, request.prompt.tokens);
    scheduler_->add(std::move(request), std::move(*sampler), sink);
    return sink;
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

  std::unique_ptr<LlamaEngine> engine_;
  std::unique_ptr<ChatFormat> format_;
  std::unique_ptr<Scheduler> scheduler_;
};

// A conversation of about `tokens` tokens: a system prompt, then exchanges.
ChatRequest conversation(int tokens, unsigned seed) {
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

void add_exchange(Session& session, ChatRequest& chat, const Answer& answer, unsigned seed) {
  chat.messages.push_back(session.as_message(chat, answer));
  chat.messages.push_back({.role = Role::user, .content = prose(25, seed)});
}

class Warm : public ::testing::TestWithParam<std::string> {
 protected:
  // The same prompt on an engine that has seen nothing.
  [[nodiscard]] std::string cold(const ChatRequest& chat, Position cells) const {
    Session fresh(GetParam(), cells);
    return fresh.ok() ? fresh.ask(chat).text : "";
  }
};

INSTANTIATE_TEST_SUITE_P(TinyModels, Warm, ::testing::ValuesIn(testing::tiny_models()),
                         testing::model_test_name);

TEST_P(Warm, FollowUpsComputeTheirNewTokensOnlyAndEqualCold) {
  constexpr Position kCells = 16'384;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  ChatRequest chat = conversation(6000, 1);
  Answer answer = session.ask(chat);
  EXPECT_GT(answer.offered, 5000);
  for (unsigned turn = 0; turn < 3; ++turn) {
    add_exchange(session, chat, answer, 100 + turn);
    answer = session.ask(chat);
    EXPECT_LE(answer.timings.computed_tokens, answer.fresh + kSplitCost);
    EXPECT_EQ(answer.text, cold(chat, kCells)) << "turn " << turn;
  }
}

TEST_P(Warm, RewindsComputeTheirNewTokensOnlyAndEqualCold) {
  constexpr Position kCells = 16'384;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  const ChatRequest trunk = conversation(6000, 2);
  const Answer first = session.ask(trunk);

  const Answer again = session.ask(trunk);  // regenerate
  EXPECT_LE(again.timings.computed_tokens, again.fresh + kSplitCost);
  EXPECT_EQ(again.text, first.text);

  ChatRequest edited = trunk;  // edit the question
  edited.messages.back().content = prose(40, 77);
  const Answer edit = session.ask(edited);
  EXPECT_LE(edit.timings.computed_tokens, edit.fresh + kSplitCost);
  EXPECT_EQ(edit.text, cold(edited, kCells));
}

TEST_P(Warm, BranchAndBackKeepsBothBranches) {
  constexpr Position kCells = 16'384;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  ChatRequest trunk = conversation(6000, 3);
  const Answer first = session.ask(trunk);
  ChatRequest branch = trunk;
  branch.messages.resize(branch.messages.size() / 2);
  branch.messages.push_back({.role = Role::user, .content = prose(120, 88)});
  const Answer other = session.ask(branch);
  EXPECT_LE(other.timings.computed_tokens, other.fresh + kSplitCost);
  EXPECT_EQ(other.text, cold(branch, kCells));

  add_exchange(session, trunk, first, 99);
  const Answer back = session.ask(trunk);
  EXPECT_LE(back.timings.computed_tokens, back.fresh + kSplitCost);
  EXPECT_EQ(back.text, cold(trunk, kCells));
}

// Batching may change rounding (docs/performance.md has the measured drift), never whose memory is
// read.
TEST_P(Warm, EightSessionsAtOnceGiveTheAnswersTheyGiveAlone) {
  constexpr Position kCells = 16'384;
  std::vector<ChatRequest> chats;
  for (unsigned i = 0; i < 8; ++i)
    chats.push_back(conversation(600 + 50 * static_cast<int>(i), 300 + 20 * i));
  Session together(GetParam(), kCells, 8);
  ASSERT_TRUE(together.ok());
  const auto answers = together.ask_together(chats);
  Session alone(GetParam(), kCells, 8);
  ASSERT_TRUE(alone.ok());
  for (std::size_t i = 0; i < chats.size(); ++i) {
    EXPECT_EQ(answers[i].text, alone.ask(chats[i]).text) << "session " << i;
    EXPECT_EQ(answers[i].timings.reply_tokens, kReplyTokens);
  }
}

TEST_P(Warm, ThirtyThousandTokensStayWarm) {
  constexpr Position kCells = 40'960;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  ChatRequest chat = conversation(30'000, 4);
  const Answer first = session.ask(chat);
  EXPECT_GT(first.offered, 25'000);
  add_exchange(session, chat, first, 200);
  const Answer next = session.ask(chat);
  EXPECT_LE(next.timings.computed_tokens, next.fresh + kSplitCost);
  ChatRequest edited = chat;
  edited.messages.back().content = prose(40, 201);
  const Answer edit = session.ask(edited);
  EXPECT_LE(edit.timings.computed_tokens, edit.fresh + kSplitCost);
  EXPECT_EQ(edit.text, cold(edited, kCells));
}

}  // namespace
}  // namespace samovar
