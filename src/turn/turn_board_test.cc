// Goal: the board tells each running turn's phase and how long each phase has lasted, and what
// ended. Method: events and times by hand.
#include "turn/turn_board.h"

#include <thread>

namespace samovar {
namespace {

LiveView begun(const std::string& id, Micros render = 0) {
  LiveView view;
  view.id = id;
  view.prompt_tokens = 100;
  view.render = render;
  return view;
}

TEST(TurnBoard, PhasesGrowWithTheClockAndAddUpToTheAge) {
  TurnBoard board;
  const auto turn = board.add(begun("a", 5), 1000);
  EXPECT_EQ(turn->view(1000).age(), 5);
  EXPECT_EQ(turn->view(1010).queue, 10);
  EXPECT_EQ(turn->view(1010).phase, LivePhase::queue);
  turn->on_event(TurnRestoring{.done = 0, .total = 100}, 1020);
  turn->on_event(TurnRestoring{.done = 40, .total = 100}, 1030);
  EXPECT_EQ(turn->view(1035).restore, 15);
  EXPECT_EQ(turn->view(1035).done_tokens, 40);
  EXPECT_EQ(turn->view(1035).reused_tokens, 0);
  EXPECT_FALSE(turn->view(1035).source);
  turn->on_event(
      TurnStarted{.prompt_tokens = 100, .reused_tokens = 60, .source = ReuseSource::store}, 1040);
  EXPECT_EQ(turn->view(1040).computed_tokens, 0);
  turn->on_event(TurnProgress{.done = 90, .total = 100}, 1050);
  const LiveView filling = turn->view(1060);
  EXPECT_EQ(filling.phase, LivePhase::prefill);
  EXPECT_EQ(filling.done_tokens, 90);
  EXPECT_EQ(filling.computed_tokens, 30);
  EXPECT_EQ(filling.source, ReuseSource::store);
  turn->on_token(1070);
  turn->on_token(1080);
  const LiveView view = turn->view(1100);
  EXPECT_EQ(view.phase, LivePhase::decode);
  EXPECT_EQ(view.reply_tokens, 2);
  EXPECT_EQ(view.computed_tokens, 40);
  EXPECT_EQ(view.queue, 20);
  EXPECT_EQ(view.restore, 20);
  EXPECT_EQ(view.prefill, 30);
  EXPECT_EQ(view.decode, 30);
  EXPECT_EQ(view.age(), 105);
}

TEST(TurnBoard, TheLastEventStopsTheClockEvenIfTheClientStillReads) {
  TurnBoard board;
  const auto finished = board.add(begun("a"), 0);
  finished->on_token(10);
  finished->on_event(TurnFinished{}, 30);
  EXPECT_EQ(finished->view(500).decode, 20);
  EXPECT_EQ(finished->view(500).age(), 30);
  const auto failed = board.add(begun("b"), 0);
  const std::uint64_t before = failed->view(0).changes;
  failed->on_event(TurnFailed{}, 40);
  EXPECT_EQ(failed->view(500).queue, 40);
  EXPECT_EQ(failed->view(500).phase, LivePhase::queue);
  EXPECT_EQ(failed->view(500).changes, before + 1);
  EXPECT_EQ(board.live(500, 10).size(), 2U) << "their records are not complete";
}

TEST(TurnBoard, EveryChangeButThatOfTimesIsCounted) {
  TurnBoard board;
  const auto turn = board.add(begun("a"), 0);
  const std::uint64_t before = turn->view(0).changes;
  EXPECT_EQ(turn->view(50).changes, before);
  turn->on_event(TurnText{.text = "x"}, 60);
  EXPECT_EQ(turn->view(60).changes, before);
  turn->set_session("s");
  Explanation miss;
  miss.cause = Cause::evicted;
  miss.tokens_lost = 7;
  turn->set_miss(miss);
  turn->on_token(70);
  EXPECT_EQ(turn->view(70).changes, before + 3);
  EXPECT_EQ(turn->view(70).session, "s");
  EXPECT_EQ(turn->view(70).miss->cause, Cause::evicted);
  EXPECT_EQ(turn->view(70).miss->tokens_lost, 7);
}

TEST(TurnBoard, LiveTurnsAreThoseThatHaveNotEnded) {
  TurnBoard board;
  const auto a = board.add(begun("a"), 0);
  const auto b = board.add(begun("b"), 0);
  auto gone = board.add(begun("gone"), 0);
  gone.reset();  // nobody has it any more
  const auto c = board.add(begun("c"), 0);
  EXPECT_EQ(board.live(0, 2).size(), 2U);
  board.ended(b);
  board.ended(b);
  const auto live = board.live(0, 10);
  ASSERT_EQ(live.size(), 2U);
  EXPECT_EQ(live[0].id, "a");
  EXPECT_EQ(live[1].id, "c");
  ASSERT_EQ(board.ended_after(0).size(), 1U);
  EXPECT_EQ(board.ended_after(0)[0].id, "b");
  EXPECT_EQ(board.ended_so_far(), 1U);
  EXPECT_TRUE(board.ended_after(1).empty());
}

TEST(TurnBoard, RemembersSoManyThatEndedAndSoManyNames) {
  TurnBoard board;
  for (std::size_t i = 0; i < TurnBoard::kEndedMax + 10; ++i) {
    board.ended(board.add(begun(std::to_string(i)), 0));
  }
  const auto ended = board.ended_after(0);
  ASSERT_EQ(ended.size(), TurnBoard::kEndedMax);
  EXPECT_EQ(ended.front().id, "10");
  EXPECT_EQ(ended.back().number, board.ended_so_far());
  const SessionId first = session_of_text("0");
  for (std::size_t i = 0; i <= TurnBoard::kSessionsMax; ++i) {
    board.name_session(session_of_text(std::to_string(i)), "n" + std::to_string(i));
  }
  EXPECT_FALSE(board.session_named(first));
  EXPECT_EQ(board.session_named(session_of_text("1")), "n1");
  board.name_session(SessionId{}, "nobody");
  EXPECT_FALSE(board.session_named(SessionId{}));
}

TEST(TurnBoard, IsReadWhileTurnsReportToIt) {
  TurnBoard board;
  std::thread reporter([&] {
    for (int i = 0; i < 200; ++i) {
      const auto turn = board.add(begun(std::to_string(i)), i);
      for (Micros t = 0; t < 20; ++t) turn->on_token(t);
      board.ended(turn);
    }
  });
  std::size_t most = 0;
  while (board.ended_so_far() < 200) most = std::max(most, board.live(0, 10).size());
  reporter.join();
  EXPECT_LE(most, 1U);
  EXPECT_TRUE(board.live(0, 10).empty());
}

}  // namespace
}  // namespace samovar
