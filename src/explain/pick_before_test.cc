// Goal: the turn that a turn goes on from is found, quickly, whatever is volatile in it. Method:
// small sets of candidates with one right answer; the time of a full set.
#include "explain/pick_before.h"

#include <chrono>

#include "base/clock.h"
#include "explain/explain_testing.h"

namespace samovar {
namespace {

using testing::Keep;
using testing::message;

TurnShape turn_of(std::vector<std::string> texts, std::string system = "sys",
                  const std::string& session = "") {
  ChatRequest request;
  request.messages.push_back(message(Role::system, std::move(system)));
  bool user = true;
  for (std::string& text : texts) {
    request.messages.push_back(message(user ? Role::user : Role::assistant, std::move(text)));
    user = !user;
  }
  return guess_shape(request, {.turn_id = "", .session_key = session});
}

std::optional<std::size_t> pick(const std::vector<TurnShape>& turns, const TurnShape& after) {
  std::vector<const TurnShape*> candidates;
  for (const TurnShape& turn : turns) candidates.push_back(&turn);
  return pick_before(candidates, after);
}

TEST(PickBefore, TurnThatSharesMostMessages) {
  const std::vector<TurnShape> turns = {turn_of({"a"}), turn_of({"a", "b", "c"}),
                                        turn_of({"a", "x", "c"}), turn_of({"z"})};
  EXPECT_EQ(pick(turns, turn_of({"a", "b", "c", "d", "e"})), 1U);
}

TEST(PickBefore, UniqueIdAtTheTopHidesNothing) {
  const std::vector<TurnShape> turns = {turn_of({"z"}, "id 1"), turn_of({"a"}, "id 2")};
  EXPECT_EQ(pick(turns, turn_of({"a", "b", "c"}, "id 3")), 1U);
}

TEST(PickBefore, UniqueIdInTheFirstMessageHidesNothing) {
  const std::vector<TurnShape> turns = {turn_of({"z 1", "y", "x"}), turn_of({"a 1", "b", "c"})};
  EXPECT_EQ(pick(turns, turn_of({"a 2", "b", "c", "d", "e"})), 1U);
}

TEST(PickBefore, SameSessionGoesFirst) {
  const std::vector<TurnShape> turns = {turn_of({"a"}, "s", "mine"), turn_of({"a"}, "s", "other"),
                                        turn_of({"title?"}, "s", "mine")};
  EXPECT_EQ(pick(turns, turn_of({"a", "b", "c"}, "s", "mine")), 0U);
  EXPECT_EQ(pick(turns, turn_of({"q"}, "s", "mine")), 2U) << "shares nothing, but the session";
}

TEST(PickBefore, KeyThatIsNewEachTimeHidesNothing) {
  const std::vector<TurnShape> turns = {turn_of({"a"}, "s", "key 1"), turn_of({"z"}, "s", "key 2")};
  EXPECT_EQ(pick(turns, turn_of({"a", "b", "c"}, "s", "key 3")), 0U);
}

TEST(PickBefore, NewestOfEquals) {
  const std::vector<TurnShape> turns = {turn_of({"a"}), turn_of({"a"})};
  EXPECT_EQ(pick(turns, turn_of({"a", "b", "c"})), 1U);
}

TEST(PickBefore, CompactedHistoryIsFoundByItsTail) {
  const std::vector<TurnShape> turns = {turn_of({"a", "b", "c", "d", "e"}), turn_of({"q"})};
  EXPECT_EQ(pick(turns, turn_of({"summary", "d", "e", "f", "g"})), 0U);
}

TEST(PickBefore, ReplyCounts) {
  std::vector<TurnShape> turns = {turn_of({"hi"}), turn_of({"hi"})};
  add_reply(turns[0], message(Role::assistant, "first"), 1, true);
  add_reply(turns[1], message(Role::assistant, "second"), 1, true);
  EXPECT_EQ(pick(turns, turn_of({"hi", "first", "more"})), 0U);
}

TEST(PickBefore, AConversationOfItsOwnHasNone) {
  EXPECT_EQ(pick({turn_of({"a"})}, turn_of({"b"})), std::nullopt);
  EXPECT_EQ(pick({}, turn_of({"b"})), std::nullopt);
}

// The time it takes is recorded with the test's result.
TEST(PickBefore, FindsTheNewestOfAFullSetOfLongTurnsOrNone) {
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) texts.push_back("message " + std::to_string(i));
  std::vector<TurnShape> alike(256, turn_of(texts));
  std::vector<TurnShape> strangers;
  for (int i = 0; i < 256; ++i) {
    std::vector<std::string> others = texts;
    for (std::string& text : others) text += " of " + std::to_string(i);
    strangers.push_back(turn_of(others));
  }
  for (const auto* turns : {&alike, &strangers}) {
    const TurnShape after = turn_of(texts);
    const Micros begin = system_clock().now();
    const auto found = pick(*turns, after);
    RecordProperty(turns == &alike ? "alike_us" : "strangers_us",
                   std::to_string(system_clock().now() - begin));
    EXPECT_EQ(found, turns == &alike ? std::optional<std::size_t>(255) : std::nullopt);
  }
}

}  // namespace
}  // namespace samovar
