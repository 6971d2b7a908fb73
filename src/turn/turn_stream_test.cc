// Goal: a slow reader never makes the engine thread wait, loses no text and sees events in order.
#include "turn/turn_service.h"

#include <thread>

namespace samovar {
namespace {

TurnText text(std::string bytes) { return TurnText{std::move(bytes), {}}; }

TEST(TurnStream, JoinsTextThatWaitsAndKeepsItsLogprobs) {
  TurnStream stream;
  stream.on_event(TurnText{"He", {Sampled{1, -0.5F, {}}}});
  stream.on_event(TurnText{"llo", {Sampled{2, -0.25F, {}}}});
  const auto event = stream.next(0);
  ASSERT_TRUE(event.has_value());
  const auto& joined = std::get<TurnText>(*event);
  EXPECT_EQ(joined.text, "Hello");
  ASSERT_EQ(joined.tokens.size(), 2U);
  EXPECT_EQ(joined.tokens[1].token, 2);
  EXPECT_FALSE(stream.next(0).has_value());
}

TEST(TurnStream, KeepsOnlyTheNewestProgress) {
  TurnStream stream;
  for (Position done = 0; done < 1000; ++done) stream.on_event(TurnProgress{done, 1000});
  const auto event = stream.next(0);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(std::get<TurnProgress>(*event).done, 999);
  EXPECT_FALSE(stream.next(0).has_value());
}

TEST(TurnStream, DoesNotJoinAcrossOtherEvents) {
  TurnStream stream;
  stream.on_event(TurnStarted{10, 4, "plan"});
  stream.on_event(text("a"));
  stream.on_event(TurnFinished{});
  EXPECT_TRUE(std::holds_alternative<TurnStarted>(*stream.next(0)));
  EXPECT_TRUE(std::holds_alternative<TurnText>(*stream.next(0)));
  EXPECT_TRUE(std::holds_alternative<TurnFinished>(*stream.next(0)));
}

TEST(TurnStream, LosesNothingBetweenTwoThreads) {
  TurnStream stream;
  constexpr int kCount = 20'000;
  std::thread writer([&] {
    for (int i = 0; i < kCount; ++i) stream.on_event(text("x"));
    stream.on_event(TurnFinished{});
  });
  std::size_t bytes = 0;
  while (true) {
    const auto event = stream.next(kSecond);
    ASSERT_TRUE(event.has_value());
    if (std::holds_alternative<TurnFinished>(*event)) break;
    bytes += std::get<TurnText>(*event).text.size();
  }
  writer.join();
  EXPECT_EQ(bytes, static_cast<std::size_t>(kCount));
}

TEST(TurnStream, AnObserverSeesEverythingAtOnceWhetherOrNotAnybodyReads) {
  struct Watcher final : TurnObserver {
    void on_event(const TurnEvent& event) override { events.push_back(event.index()); }
    void on_token(Token token) override { tokens.push_back(token); }
    std::vector<std::size_t> events;
    Tokens tokens;
  };
  const auto watcher = std::make_shared<Watcher>();
  TurnStream stream(watcher);
  stream.on_token(5);
  stream.on_event(text("a"));
  stream.on_event(text("b"));
  stream.on_event(TurnFinished{});
  EXPECT_EQ(watcher->tokens, (Tokens{5}));
  EXPECT_EQ(watcher->events, (std::vector<std::size_t>{3, 3, 4}));
}

TEST(TurnStream, CancelIsSeenByTheWriter) {
  TurnStream stream;
  EXPECT_FALSE(stream.cancelled());
  stream.cancel();
  EXPECT_TRUE(stream.cancelled());
}

}  // namespace
}  // namespace samovar
