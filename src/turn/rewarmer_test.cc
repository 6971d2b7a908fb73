// Goal: replies that the next message will part from are warmed, once, when the server is quiet,
// and never hold anything up. Method: the real thread, with fakes for template and engine thread
// that the test holds back with gates.
#include "turn/rewarmer.h"

#include <stdexcept>
#include <vector>

#include "turn/rewarm_testing.h"

namespace samovar {
namespace {

using testing::render_bytes;
using testing::sampled;

ChatRequest asking(const std::string& question) {
  ChatRequest chat;
  chat.messages = {{.role = Role::system, .content = std::string(100, 's')},
                   {.role = Role::user, .content = question}};
  return chat;
}

const ChatMessage kReply{
    .role = Role::assistant, .content = std::string(90, 'r'), .reasoning = std::string(300, 't')};

class RewarmerTest : public ::testing::Test {
 protected:
  struct Submitted {
    TurnRequest request;
    std::shared_ptr<TurnSink> sink;
  };

  RewarmerParts parts() {
    return {.render = [this](const ChatRequest& request) -> Result<Prompt> {
              ++renders;
              if (throws) throw std::runtime_error("a template went wrong");
              return render_bytes(request);
            },
            .submit = [this](TurnRequest request, std::shared_ptr<TurnSink> sink) -> Status {
              const std::scoped_lock lock(mutex);
              if (refuses) {
                ++refused;
                return fail(ErrorKind::overloaded, "too many");
              }
              taken.push_back({std::move(request), std::move(sink)});
              changed.notify_all();
              return {};
            },
            .quiet = [this] { return quiet.load(); }};
  }

  static void end(Rewarmer& rewarmer, const std::string& question, ChatMessage reply = kReply,
                  const std::string& session = "") {
    const auto chat = std::make_shared<const ChatRequest>(asking(question));
    const Tokens tokens = sampled(reply);
    rewarmer.reply_ended(chat, std::move(reply), render_bytes(*chat), tokens, session);
  }

  // Waits until so many were handed in.
  std::vector<Submitted> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return taken.size() >= count; });
    return taken;
  }

  std::atomic<bool> quiet = true;
  std::atomic<bool> throws = false;
  std::atomic<bool> refuses = false;
  std::atomic<int> renders = 0;
  std::atomic<int> refused = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Submitted> taken;
  RewarmerOptions options{.poll = kMillisecond};
};

TEST_F(RewarmerTest, HandsInTheHistoryAsARewarmOfTheSession) {
  Rewarmer rewarmer(parts(), system_clock(), options);
  end(rewarmer, "first", kReply, "talk");
  const auto got = wait_for(1);
  EXPECT_EQ(got[0].request.kind, TurnKind::rewarm);
  EXPECT_EQ(got[0].request.session_key, "talk");
  ChatRequest next = asking("first");
  next.messages.push_back(kReply);
  next.messages.push_back({.role = Role::user, .content = "second"});
  const Prompt prompt = render_bytes(next);
  const Position size = got[0].request.prompt.size();
  EXPECT_EQ(size, prompt.message_starts[3]);
  EXPECT_TRUE(std::equal(prompt.tokens.begin(), prompt.tokens.begin() + size,
                         got[0].request.prompt.tokens.begin()));
}

TEST_F(RewarmerTest, WaitsUntilTheServerIsQuietAndTakesTheNewestOfEachConversation) {
  quiet = false;
  Rewarmer rewarmer(parts(), system_clock(), options);
  end(rewarmer, "one", kReply, "a");
  end(rewarmer, "two", kReply, "b");
  end(rewarmer, "three", kReply, "a");
  EXPECT_EQ(renders, 0);
  quiet = true;
  const auto got = wait_for(2);
  rewarmer.stop();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(got[0].request.session_key, "b");
  EXPECT_EQ(got[1].request.session_key, "a");
  const Prompt newest = render_bytes(asking("three"));
  EXPECT_TRUE(std::equal(newest.tokens.begin(), newest.tokens.begin() + newest.primer_start,
                         got[1].request.prompt.tokens.begin()));
}

TEST_F(RewarmerTest, KnowsAConversationWithoutAKeyByItsBeginning) {
  quiet = false;
  Rewarmer rewarmer(parts(), system_clock(), options);
  end(rewarmer, "the same question");
  end(rewarmer, "the same question");
  end(rewarmer, "another");
  quiet = true;
  wait_for(2);
  rewarmer.stop();
  EXPECT_EQ(taken.size(), 2U);
}

TEST_F(RewarmerTest, AReplyThatCallsAToolIsNotWarmedAndMakesWhatWaitsObsolete) {
  quiet = false;
  Rewarmer rewarmer(parts(), system_clock(), options);
  end(rewarmer, "one", kReply, "a");
  ChatMessage call = kReply;
  call.tool_calls = {{.id = "1", .name = "f", .arguments = "{}"}};
  end(rewarmer, "one more", call, "a");
  end(rewarmer, "two", kReply, "b");
  quiet = true;
  const auto got = wait_for(1);
  rewarmer.stop();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(got[0].request.session_key, "b");
}

TEST_F(RewarmerTest, TheQueueIsBoundedAndTheOldestGoes) {
  quiet = false;
  options.queue_max = 3;
  Rewarmer rewarmer(parts(), system_clock(), options);
  for (const char* name : {"a", "b", "c", "d", "e"}) end(rewarmer, name, kReply, name);
  quiet = true;
  const auto got = wait_for(3);
  rewarmer.stop();
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(got[0].request.session_key, "c");
}

TEST_F(RewarmerTest, WhatNeedsNoWarmingOrGoesWrongCostsNothingElse) {
  Rewarmer rewarmer(parts(), system_clock(), options);
  ChatMessage plain = kReply;
  plain.reasoning.clear();
  end(rewarmer, "extends", plain, "a");
  while (renders < 2) std::this_thread::yield();
  throws = true;
  end(rewarmer, "throws", kReply, "b");
  while (renders < 3) std::this_thread::yield();
  throws = false;
  refuses = true;
  end(rewarmer, "is refused", kReply, "c");
  while (refused == 0) std::this_thread::yield();
  refuses = false;
  end(rewarmer, "works", kReply, "d");
  const auto got = wait_for(1);
  rewarmer.stop();
  EXPECT_EQ(got[0].request.session_key, "d");
  EXPECT_EQ(rewarmer.submitted(), 1U);
}

TEST_F(RewarmerTest, StoppingGivesUpWhatWaitsAndWhatRuns) {
  Rewarmer rewarmer(parts(), system_clock(), options);
  end(rewarmer, "runs", kReply, "a");
  const auto got = wait_for(1);
  EXPECT_FALSE(got[0].sink->cancelled());
  quiet = false;
  end(rewarmer, "waits", kReply, "b");
  rewarmer.stop();
  EXPECT_TRUE(got[0].sink->cancelled());
  end(rewarmer, "comes late", kReply, "c");
  EXPECT_EQ(taken.size(), 1U);
}

}  // namespace
}  // namespace samovar
