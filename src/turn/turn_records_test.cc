// Goal: whatever ends a turn, its record, its shape and its reply are there for the next one, and
// neither reader nor engine thread waits for that. Method: a ledger in memory, events by hand.
#include "turn/turn_records.h"

#include <stdexcept>

#include "tests/support/manual_executor.h"
#include "tests/support/recording_meter.h"

namespace samovar {
namespace {

class TurnRecordsTest : public ::testing::Test {
 protected:
  TurnRecordsTest() {
    TurnRecords::Environment environment{
        .ledger = *ledger,
        .clock = clock,
        .background = background,
        .model = "m",
        .model_name = "tiny",
        .template_id = "t",
        .read_reply = [this](const SavedSyntax&, TokenSpan reply) -> std::optional<ChatMessage> {
          if (unreadable) throw std::runtime_error("the reply cannot be read");
          ChatMessage message{.role = Role::assistant};
          message.content = "reply of " + std::to_string(reply.size());
          return message;
        }};
    environment.meter = &meter;
    environment.remember = [this](const TurnRecord& turn, const std::vector<std::string>& ids) {
      remembered.emplace_back(turn.id, ids);
    };
    environment.forget = [this](const Sha256&) { ++forgotten; };
    environment.format = [](const ChatMessage& reply) { return "formatted " + reply.content; };
    environment.trace = [this](const TurnTrace& turn) {
      traced.push_back({turn.origin.id, turn.record.status, turn.reply.content, turn.ended});
    };
    records = std::make_unique<TurnRecords>(std::move(environment));
    records->on_ended([this](EndedReply reply) { ended.push_back(std::move(reply)); });
  }

  // A request of `texts`, user and assistant by turns, one token a word and a start a message.
  std::shared_ptr<TurnRecorder> begin(const std::string& id, const std::vector<std::string>& texts,
                                      const std::string& session = "", bool keep_text = false) {
    auto chat = std::make_shared<ChatRequest>();
    RenderedChat rendered;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ChatMessage message{.role = i % 2 == 0 ? Role::user : Role::assistant};
      message.content = texts[i];
      chat->messages.push_back(std::move(message));
      rendered.prompt.message_starts.push_back(rendered.prompt.size());
      rendered.prompt.tokens.push_back(1);
      for (const char byte : texts[i]) rendered.prompt.tokens.push_back(byte);
      rendered.text += texts[i];
    }
    rendered.prompt.primer_start = rendered.prompt.size();
    rendered.prompt.tokens.push_back(2);
    rendered.context.fill(static_cast<std::uint8_t>(texts.size()));
    TurnOrigin origin;
    origin.id = id;
    origin.dialect = "chat.completions";
    origin.session_key = session;
    origin.keep_text = keep_text;
    origin.chat = std::move(chat);
    return records->begin(std::move(origin), rendered);
  }
  static TurnStarted started(Position prompt, Position reused) {
    return {.prompt_tokens = prompt, .reused_tokens = reused, .source = ReuseSource::live};
  }
  static void finish(TurnRecorder& turn, Position prompt, Position reused, int reply = 3) {
    turn.on_event(started(prompt, reused));
    turn.started(started(prompt, reused));
    for (int i = 0; i < reply; ++i) turn.on_token(100 + i);
    TurnFinished finished;
    finished.timings.prompt_tokens = prompt;
    finished.timings.reused_tokens = reused;
    finished.timings.computed_tokens = prompt - reused;
    finished.timings.prefill = (prompt - reused) * 1000;
    finished.timings.reply_tokens = reply;
    turn.on_event(finished);
    ChatMessage message{.role = Role::assistant};
    message.content = "the reply";
    turn.finished(finished, {"stop", message, "{}"});
  }
  TurnRecord record(const std::string& id) { return **ledger->find(id); }

  RecordingMeter meter;
  FakeClock clock;
  std::unique_ptr<Ledger> ledger = Ledger::open({}, clock);
  ManualExecutor background;
  std::unique_ptr<TurnRecords> records;
  std::vector<std::pair<std::string, std::vector<std::string>>> remembered;
  std::vector<EndedReply> ended;
  struct Traced {
    std::string id;
    TurnStatus status;
    std::string reply;
    Micros ended;
  };
  std::vector<Traced> traced;
  int forgotten = 0;
  bool unreadable = false;
};

TurnFailed client_gone() {
  return {.error = {ErrorKind::cancelled, "the client is gone"}, .timings = {}};
}

TEST_F(TurnRecordsTest, TurnsThatEndedOrWereCutAreTraced) {
  clock.advance(7 * kSecond);
  finish(*begin("a", {"hello"}), 7, 0);
  const auto cut = begin("b", {"other"});
  cut->on_event(started(7, 0));
  cut->on_token(100);
  cut->reader_left();
  cut->on_event(client_gone());
  background.run_all();
  begin("c", {"third"})->refused({ErrorKind::overloaded, "full"});
  ASSERT_EQ(traced.size(), 2U);
  EXPECT_EQ(traced[0].id, "a");
  EXPECT_EQ(traced[0].status, TurnStatus::complete);
  EXPECT_EQ(traced[0].reply, "the reply");
  EXPECT_EQ(traced[0].ended, 7 * kSecond);
  EXPECT_EQ(traced[1].id, "b");
  EXPECT_EQ(traced[1].status, TurnStatus::incomplete);
  EXPECT_EQ(traced[1].reply, "reply of 1");
}

TEST_F(TurnRecordsTest, ATurnLeavesItsRecordItsReplyAndItsShape) {
  const auto turn = begin("a", {"hello"});
  EXPECT_EQ(record("a").status, TurnStatus::running);
  finish(*turn, 7, 0);
  const TurnRecord done = record("a");
  EXPECT_EQ(done.status, TurnStatus::complete);
  EXPECT_EQ(done.finish, "stop");
  EXPECT_EQ(done.session, "a");
  EXPECT_FALSE(done.session_named);
  EXPECT_EQ(done.reply, (Tokens{100, 101, 102}));
  EXPECT_EQ(done.primer, (Tokens{2}));
  EXPECT_EQ(done.miss->cause, Cause::first_turn);
  EXPECT_FALSE(done.shape.empty());
  ASSERT_EQ(remembered.size(), 1U);
  EXPECT_EQ(remembered[0].first, "a");
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].tokens, done.reply);
  EXPECT_EQ(background.pending(), 0U);
}

TEST_F(TurnRecordsTest, AFollowUpIsOfTheSameSessionAndMissesNothing) {
  finish(*begin("a", {"hello"}), 7, 0);
  const auto turn = begin("b", {"hello", "the reply", "more"});
  finish(*turn, 22, 7);
  EXPECT_EQ(record("b").session, "a");
  EXPECT_EQ(turn->report().miss->cause, Cause::none);
}

TEST_F(TurnRecordsTest, TheClientsSessionKeyCounts) {
  finish(*begin("a", {"hello"}, "mine"), 7, 0);
  EXPECT_EQ(record("a").session, "mine");
  EXPECT_TRUE(record("a").session_named);
}

TEST_F(TurnRecordsTest, AMissIsChargedAtTheRateOfItsOwnTurn) {
  const std::string text(500, 'x');
  finish(*begin("a", {text + " one " + text, "yes", "and?"}), 1016, 0);
  const auto turn = begin("b", {text + " two " + text, "yes", "and?"});
  finish(*turn, 1016, 0);
  const TurnReport report = turn->report();
  ASSERT_TRUE(report.miss.has_value());
  EXPECT_GT(report.miss->tokens_lost, 900);
  EXPECT_NEAR(*report.miss->seconds_lost, report.miss->tokens_lost / 1000.0, 0.01);
  EXPECT_EQ(record("b").miss->seconds_lost.has_value(), true);
}

TEST_F(TurnRecordsTest, AReplyWhoseReaderLeftIsCompletedInTheBackground) {
  const auto turn = begin("a", {"hello"});
  turn->on_event(started(7, 0));
  turn->on_token(100);
  turn->reader_left();
  EXPECT_EQ(record("a").ended, 0);
  turn->on_event(TurnFailed{.error = {ErrorKind::cancelled, "gone"}, .timings = {}});
  EXPECT_EQ(background.pending(), 1U) << "the engine thread leaves the work to another one";
  background.run_all();
  const TurnRecord cut = record("a");
  EXPECT_EQ(cut.status, TurnStatus::incomplete);
  EXPECT_EQ(cut.reply, (Tokens{100}));
  EXPECT_TRUE(cut.miss.has_value());
  EXPECT_EQ(remembered.size(), 1U) << "what it said can be replayed";
  EXPECT_TRUE(ended.empty()) << "a cut reply is not warmed";
}

TEST_F(TurnRecordsTest, AReaderThatLeavesAfterTheEndCompletesTheTurnItself) {
  const auto turn = begin("a", {"hello"});
  turn->on_event(started(7, 0));
  turn->on_token(100);
  turn->on_event(TurnFailed{.error = {ErrorKind::cancelled, "gone"}, .timings = {}});
  EXPECT_EQ(background.pending(), 0U);
  turn->reader_left();
  EXPECT_EQ(record("a").status, TurnStatus::incomplete);
  EXPECT_EQ(remembered.size(), 1U);
}

TEST_F(TurnRecordsTest, ARefusedTurnHasFailed) {
  const auto turn = begin("a", {"hello"});
  turn->refused({ErrorKind::overloaded, "the queue is full"});
  EXPECT_EQ(record("a").status, TurnStatus::failed);
  EXPECT_EQ(record("a").error, "the queue is full");
  EXPECT_TRUE(remembered.empty());
}

TEST_F(TurnRecordsTest, ADroppedReplyIsNamedWithTheTurnThatKeepsIt) {
  const auto cut = begin("a", {"tell a story"});
  cut->on_event(started(14, 0));
  for (int i = 0; i < 50; ++i) cut->on_token(100 + i);
  cut->reader_left();
  cut->on_event(TurnFailed{.error = {ErrorKind::cancelled, "gone"}, .timings = {}});
  background.run_all();
  auto chat = std::make_shared<ChatRequest>();
  for (const char* text : {"tell a story", "stop"}) {
    ChatMessage message{.role = Role::user};
    message.content = text;
    chat->messages.push_back(std::move(message));
  }
  RenderedChat rendered;
  rendered.prompt.tokens.resize(20, 5);
  rendered.prompt.primer_start = 19;
  TurnOrigin origin;
  origin.id = "b";
  origin.chat = std::move(chat);
  const auto turn = records->begin(std::move(origin), rendered);
  turn->started(started(20, 13));
  ASSERT_TRUE(turn->report().miss.has_value());
  EXPECT_EQ(turn->report().miss->cause, Cause::reply_missing);
  EXPECT_EQ(turn->report().miss->kept_reply, "a");
}

TEST_F(TurnRecordsTest, AContinuedReplyCountsFromWhereItWasCut) {
  const auto cut = begin("a", {"hello"});
  cut->on_event(started(7, 0));
  cut->on_token(100);
  cut->reader_left();
  cut->on_event(TurnFailed{.error = {ErrorKind::cancelled, "gone"}, .timings = {}});
  background.run_all();

  RenderedChat rendered;
  rendered.prompt.tokens = record("a").prompt;
  rendered.prompt.primer_start = rendered.prompt.size() - 1;
  rendered.prompt.tokens.push_back(100);
  TurnOrigin origin;
  origin.id = "b";
  origin.continues = "a";
  origin.reply_so_far = {100};
  const auto turn = records->begin(std::move(origin), rendered);
  finish(*turn, 8, 7, 2);
  const TurnRecord whole = record("b");
  EXPECT_EQ(whole.continues, "a");
  EXPECT_EQ(whole.reply, (Tokens{100, 100, 101}));
  EXPECT_EQ(whole.primer, (Tokens{2}));
  EXPECT_EQ(whole.miss->cause, Cause::none);
}

TEST_F(TurnRecordsTest, ForgettingASessionForgetsItsRepliesToo) {
  finish(*begin("a", {"hello"}, "mine"), 7, 0);
  finish(*begin("b", {"other"}, "yours"), 7, 0);
  ASSERT_TRUE(ledger->flush());
  EXPECT_EQ(records->forget_session("mine").value(), 1);
  EXPECT_EQ(forgotten, 1);
  EXPECT_FALSE(ledger->find("a")->has_value());
  EXPECT_TRUE(ledger->find("b")->has_value());
}

// --- clients that leave early, replies that cannot be read ---

TEST_F(TurnRecordsTest, AClientThatLeavesBeforeItsTurnIsAdmittedLeavesAClosedRecord) {
  const auto turn = begin("a", {"hello"});
  turn->reader_left();
  EXPECT_EQ(record("a").ended, 0) << "the turn may still run";
  turn->on_event(client_gone());
  background.run_all();
  const TurnRecord cut = record("a");
  EXPECT_GT(cut.ended, 0);
  EXPECT_EQ(cut.status, TurnStatus::incomplete) << "the same question is likely to come again";
  EXPECT_FALSE(cut.prompt.empty());
  EXPECT_FALSE(cut.miss.has_value()) << "it was never planned";
  EXPECT_TRUE(remembered.empty());
  ASSERT_TRUE(ledger->flush());
  EXPECT_EQ(ledger->list({.status = TurnStatus::running})->size(), 0U);
}

TEST_F(TurnRecordsTest, AReplyThatCannotBeReadStillClosesItsRecord) {
  unreadable = true;
  const auto turn = begin("a", {"hello"});
  turn->on_event(started(7, 0));
  turn->started(started(7, 0));
  turn->on_token(100);
  turn->on_event(client_gone());
  EXPECT_NO_THROW(turn->reader_left());
  EXPECT_GT(record("a").ended, 0);
  EXPECT_EQ(record("a").reply, (Tokens{100})) << "its tokens are kept nevertheless";
  EXPECT_TRUE(remembered.empty());
  unreadable = false;
  turn->failed(client_gone());
  EXPECT_TRUE(remembered.empty()) << "it is closed";
}

TEST_F(TurnRecordsTest, TheTextOfACutReplyIsKeptAsItsDialectFormatsIt) {
  const auto kept = begin("kept", {"hello"}, "", true);
  const auto silent = begin("silent", {"other"});
  for (const auto& turn : {kept, silent}) {
    turn->on_event(started(7, 0));
    turn->on_token(100);
    turn->on_token(101);
    turn->on_event(client_gone());
    turn->reader_left();
  }
  EXPECT_EQ(record("kept").message, "formatted reply of 2");
  EXPECT_EQ(record("silent").message, "");
  ASSERT_TRUE(ledger->flush());
  EXPECT_EQ(record("kept").message, "formatted reply of 2");
}

// --- what is counted ---

TEST_F(TurnRecordsTest, AMissIsCountedOnceByItsClassWithWhatWasComputedAgain) {
  const std::string text(500, 'x');
  finish(*begin("a", {text + " one " + text, "yes", "and?"}), 1016, 0);
  EXPECT_EQ(meter.told().missed.size(), 0U) << "a first turn misses nothing";
  const auto turn = begin("b", {text + " two " + text, "yes", "and?"});
  finish(*turn, 1016, 0);
  turn->reader_left();
  const auto missed = meter.told().missed;
  ASSERT_EQ(missed.size(), 1U);
  EXPECT_EQ(missed[0].first, to_string(turn->report().miss->cause));
  EXPECT_EQ(missed[0].second, turn->report().miss->tokens_lost);
}

TEST_F(TurnRecordsTest, OfAMissThatWasCutOnlyWhatItGotDoneIsCounted) {
  const std::string text(500, 'x');
  finish(*begin("a", {text + " one " + text, "yes", "and?"}), 1016, 0);
  for (const Position computed : {300, 0}) {
    const auto turn = begin("b" + std::to_string(computed), {text + " two " + text, "yes", "and?"});
    turn->on_event(started(1016, 0));
    TurnFailed cut = client_gone();
    cut.timings.prompt_tokens = 1016;
    cut.timings.computed_tokens = computed;
    cut.timings.prefill = computed * kMillisecond;
    turn->on_event(cut);
    turn->reader_left();
    ASSERT_TRUE(turn->report().miss.has_value());
    EXPECT_GT(turn->report().miss->tokens_lost, 900) << "what the miss is, is another question";
    EXPECT_NEAR(turn->report().miss->seconds_lost.value_or(-1), computed / 1000.0, 1e-6);
  }
  const auto missed = meter.told().missed;
  ASSERT_EQ(missed.size(), 1U) << "and nothing of the one that computed nothing";
  EXPECT_EQ(missed[0].second, 300);
}

// --- what is purged while it runs ---

TEST_F(TurnRecordsTest, ATurnThatIsPurgedBeforeItIsComparedLeavesNothing) {
  const auto turn = begin("a", {"hello"}, "mine");
  EXPECT_EQ(records->forget_session("mine").value(), 1);
  finish(*turn, 7, 0);
  EXPECT_TRUE(remembered.empty());
  EXPECT_TRUE(ended.empty()) << "nothing to warm";
  ASSERT_TRUE(ledger->flush());
  EXPECT_FALSE(ledger->find("a")->has_value());
  EXPECT_TRUE(ledger->list({})->empty());
  const auto next = begin("b", {"hello", "the reply", "more"});
  finish(*next, 22, 7);
  EXPECT_EQ(next->report().miss->cause, Cause::first_turn) << "no shape of it is known";
}

TEST_F(TurnRecordsTest, ATurnThatIsPurgedBeforeItEndsLeavesNothing) {
  const auto turn = begin("a", {"hello"}, "mine");
  turn->on_event(started(7, 0));
  turn->started(started(7, 0));
  turn->on_token(100);
  EXPECT_EQ(records->forget_session("mine").value(), 1);
  EXPECT_EQ(forgotten, 1) << "what replay knows of its place";
  turn->reader_left();
  turn->on_event(client_gone());
  background.run_all();
  EXPECT_TRUE(remembered.empty());
  ASSERT_TRUE(ledger->flush());
  EXPECT_FALSE(ledger->find("a")->has_value());
  const auto next = begin("b", {"hello", "reply of 1", "more"});
  finish(*next, 24, 7);
  EXPECT_EQ(next->report().miss->cause, Cause::first_turn);
}

TEST_F(TurnRecordsTest, ATurnThatIsErasedWhileItRunsLeavesNothing) {
  const auto turn = begin("a", {"hello"});
  turn->on_event(started(7, 0));
  turn->started(started(7, 0));
  EXPECT_TRUE(records->forget_turn("a").value());
  finish(*turn, 7, 0);
  EXPECT_TRUE(remembered.empty());
  ASSERT_TRUE(ledger->flush());
  EXPECT_TRUE(ledger->list({})->empty());
  EXPECT_FALSE(records->forget_turn("a").value());
}

TEST_F(TurnRecordsTest, PurgingASessionTakesWhatRanAndWhatRunsAndNothingElse) {
  finish(*begin("a", {"hello"}, "mine"), 7, 0);
  finish(*begin("b", {"hello", "the reply", "more"}, "mine"), 22, 7);
  finish(*begin("c", {"other"}, "yours"), 7, 0);
  const auto running = begin("d", {"hello", "the reply", "more", "the reply", "go on"}, "mine");
  EXPECT_EQ(records->forget_session("mine").value(), 3);
  EXPECT_EQ(forgotten, 3) << "once for each place";
  finish(*running, 40, 30);
  ASSERT_TRUE(ledger->flush());
  const auto left = ledger->list({});
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ((*left)[0].id, "c");
  EXPECT_EQ(records->forget_session("mine").value(), 0);
  EXPECT_EQ(remembered.size(), 3U) << "not that of the running one";
  const auto next = begin("e", {"hello", "something else", "another"});
  finish(*next, 29, 7);
  EXPECT_EQ(next->report().miss->cause, Cause::first_turn);
}

TEST(RecentTurns, KeepsTheNewestAndDropsTextsBeforeTurns) {
  RecentTurns recent(4, 1000);
  for (int i = 0; i < 10; ++i) {
    auto shape = std::make_shared<TurnShape>();
    shape->turn_id = std::to_string(i);
    shape->rendered = std::make_shared<const std::string>(std::string(600, 'x'));
    recent.add(std::move(shape), "s");
  }
  const auto all = recent.all();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].shape->turn_id, "9");
  EXPECT_NE(all[0].shape->rendered, nullptr);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].shape->rendered, nullptr);
  recent.forget_turn("8");
  EXPECT_EQ(recent.all().size(), 3U);
  recent.forget_session("s");
  EXPECT_TRUE(recent.all().empty());
}

TEST_F(TurnRecordsTest, WhoWatchesSeesTheTurnUntilItsRecordIsComplete) {
  clock.advance(100 * kSecond);
  const auto turn = begin("t1", {"hello"}, "mine");
  TurnStarted event = started(7, 0);
  event.kept_as = session_of_key("mine").hex();
  turn->on_event(event);
  turn->started(event);
  turn->on_token(5);
  const auto live = records->board().live(clock.now(), 10);
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0].id, "t1");
  EXPECT_EQ(live[0].session, "mine");
  EXPECT_EQ(live[0].phase, LivePhase::decode);
  EXPECT_EQ(live[0].miss->cause, Cause::first_turn);
  EXPECT_EQ(records->board().session_named(session_of_key("mine")), "mine");
  turn->on_event(TurnFailed{.error = {.kind = ErrorKind::cancelled, .message = "gone"}});
  EXPECT_EQ(records->board().live(clock.now(), 10).size(), 1U);
  turn->reader_left();
  EXPECT_TRUE(records->board().live(clock.now(), 10).empty());
  ASSERT_EQ(records->board().ended_after(0).size(), 1U);
  EXPECT_EQ(record("t1").status, TurnStatus::incomplete);
}

TEST_F(TurnRecordsTest, ATurnThatIsRefusedLeavesTheBoard) {
  const auto turn = begin("t1", {"hello"});
  turn->refused({.kind = ErrorKind::overloaded, .message = "full"});
  EXPECT_TRUE(records->board().live(clock.now(), 10).empty());
  EXPECT_EQ(records->board().ended_so_far(), 1U);
}

}  // namespace
}  // namespace samovar
