// Goal: nothing of a turn is lost but the last half second, whatever ends it; nobody waits for the
// disk.
#include "ledger/ledger.h"

#include "ledger/ledger_testing.h"

namespace samovar {
namespace {

namespace fs = std::filesystem;

class LedgerTest : public testing::LedgerFolder {
 protected:
  std::unique_ptr<Ledger> open(bool keep_text = false) {
    LedgerOptions options;
    options.path = path;
    options.keep_text = keep_text;
    options.flush = 3600 * kSecond;  // only when the test says so
    return Ledger::open(options, clock);
  }
  TurnRecord begun(const std::string& id, const std::string& session = "s") const {
    TurnRecord turn;
    turn.id = id;
    turn.session = session;
    turn.created = clock.wall_seconds();
    turn.context.fill(3);
    turn.primer = {1};
    turn.prompt = {1, 2, 3};
    turn.syntax.parser = "p";
    return turn;
  }
  // What another process would find if this one died now.
  std::unique_ptr<Ledger> after_a_crash() {
    copy = folder.at("crashed");
    fs::create_directory(copy);
    for (const char* suffix : {"", "-wal"}) {
      if (fs::exists(path + suffix)) fs::copy_file(path + suffix, copy + "/ledger.db" + suffix);
    }
    LedgerOptions options;
    options.path = copy + "/ledger.db";
    return Ledger::open(options, clock);
  }

  FakeClock clock;
  std::string copy;
};

TEST_F(LedgerTest, ARunningTurnIsFoundAsItStands) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a"));
  turn->on_event(TurnStarted{.prompt_tokens = 3, .reused_tokens = 2, .source = ReuseSource::live});
  turn->on_token(7);
  turn->on_token(8);
  const TurnRecord now = **ledger->find("a");
  EXPECT_EQ(now.status, TurnStatus::running);
  EXPECT_EQ(now.reply, (Tokens{7, 8}));
  EXPECT_EQ(now.timings.reply_tokens, 2);
  EXPECT_EQ(now.timings.source, ReuseSource::live);
  const auto all = ledger->list({});
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ((*all)[0].timings.reply_tokens, 2);
}

TEST_F(LedgerTest, TurnsAreListedInTheOrderTheyBegan) {
  const auto ledger = open();
  for (int i = 0; i < 20; ++i) ledger->begin(begun(std::to_string(i)));
  const auto turns = ledger->list({});
  ASSERT_EQ(turns->size(), 20U);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ((*turns)[static_cast<std::size_t>(i)].id, std::to_string(19 - i));
  }
}

TEST_F(LedgerTest, ACrashLosesOnlyWhatWasNotWrittenYet) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a"));
  turn->on_token(7);
  ASSERT_TRUE(ledger->flush());
  turn->on_token(8);
  ASSERT_TRUE(ledger->flush());
  turn->on_token(9);  // within the last half second
  const auto later = after_a_crash();
  const TurnRecord cut = **later->find("a");
  EXPECT_EQ(cut.status, TurnStatus::incomplete);
  EXPECT_EQ(cut.reply, (Tokens{7, 8}));
  EXPECT_EQ(cut.prompt, (Tokens{1, 2, 3}));
  EXPECT_EQ(later->list({.status = TurnStatus::incomplete})->size(), 1U);
}

TEST_F(LedgerTest, AReplyWhoseClientLeftIsKeptAsIncomplete) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a"));
  turn->on_token(7);
  turn->on_event(TurnFailed{.error = {ErrorKind::cancelled, "the client is gone"}, .timings = {}});
  turn->close(clock.wall_seconds());
  ASSERT_TRUE(ledger->flush());
  const TurnRecord cut = **ledger->find("a");
  EXPECT_EQ(cut.status, TurnStatus::incomplete);
  EXPECT_EQ(cut.error, "the client is gone");
  EXPECT_EQ(cut.reply, (Tokens{7}));
}

TEST_F(LedgerTest, ATurnThatFailedBeforeItsFirstTokenHasFailed) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a"));
  turn->on_event(TurnFailed{.error = {ErrorKind::internal, "broken"}, .timings = {}});
  turn->close(clock.wall_seconds());
  EXPECT_EQ((*ledger->find("a"))->status, TurnStatus::failed);
}

TEST_F(LedgerTest, ACompleteTurnKeepsItsReplyAndForgetsItsPrompt) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a"));
  turn->on_token(7);
  TurnFinished finished;
  finished.timings.prompt_tokens = 3;
  finished.timings.reply_tokens = 1;
  finished.reason = FinishReason::length;
  turn->on_event(finished);
  turn->close(clock.wall_seconds());
  ASSERT_TRUE(ledger->flush());
  const TurnRecord done = **ledger->find("a");
  EXPECT_EQ(done.finish, "length") << "also if nobody read the reply";
  EXPECT_EQ(done.status, TurnStatus::complete);
  EXPECT_EQ(done.reply, (Tokens{7}));
  EXPECT_TRUE(done.prompt.empty());
  const auto replies = ledger->replies_at(begun("a").context, 4);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].reply, (Tokens{7}));
  Sha256 other{};
  EXPECT_TRUE(ledger->replies_at(other, 4).empty());
}

TEST_F(LedgerTest, ContextsAreKnownAgainAfterARestart) {
  {
    const auto ledger = open();
    const auto turn = ledger->begin(begun("a"));
    turn->on_token(7);
    turn->on_event(TurnFinished{});
    turn->close(clock.wall_seconds());
  }
  EXPECT_EQ(open()->replies_at(begun("a").context, 4).size(), 1U);
}

TEST_F(LedgerTest, TextIsKeptOnlyWhereAskedFor) {
  {
    const auto ledger = open();
    for (const bool keep : {false, true}) {
      TurnRecord record = begun(keep ? "kept" : "silent");
      record.keep_text = keep;
      record.request = "the request";
      const auto turn = ledger->begin(record);
      turn->on_event(TurnFinished{});
      turn->update([](TurnRecord& done) { done.message = "the message"; });
      turn->close(clock.wall_seconds());
    }
  }
  const auto ledger = open();
  EXPECT_EQ((*ledger->find("kept"))->message, "the message");
  EXPECT_EQ((*ledger->find("silent"))->message, "");
  const auto with_text = open(true);
  EXPECT_TRUE(with_text->begin(begun("all"))->record().keep_text);
}

TEST_F(LedgerTest, ARunningTurnThatIsPurgedIsNeverWrittenAgain) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a", "mine"));
  turn->on_token(7);
  EXPECT_EQ(ledger->purge_session("mine").value().turns, 1);
  EXPECT_TRUE(turn->forgotten());
  EXPECT_FALSE(ledger->find("a")->has_value());
  turn->on_token(8);
  ASSERT_TRUE(ledger->flush());
  EXPECT_TRUE(after_a_crash()->list({})->empty()) << "not even if the process dies now";
  turn->on_event(TurnFinished{});
  turn->close(clock.wall_seconds());
  ASSERT_TRUE(ledger->flush());
  EXPECT_FALSE(ledger->find("a")->has_value());
  EXPECT_TRUE(ledger->list({})->empty());
}

TEST_F(LedgerTest, PurgingASessionTellsWhereItsRepliesStood) {
  const auto ledger = open();
  const auto running = ledger->begin(begun("a", "mine"));
  running->on_token(7);
  TurnRecord other = begun("b", "mine");
  other.context.fill(4);
  const auto ended = ledger->begin(other);
  ended->on_token(7);
  ended->on_event(TurnFinished{});
  ended->close(clock.wall_seconds());
  ASSERT_TRUE(ledger->flush());
  const PurgedTurns purged = ledger->purge_session("mine").value();
  EXPECT_EQ(purged.turns, 2);
  EXPECT_EQ(purged.contexts, (std::vector<Sha256>{running->context(), other.context}));
}

TEST_F(LedgerTest, ARunningReplyIsFoundByItsPlace) {
  const auto ledger = open();
  const auto turn = ledger->begin(begun("a"));
  turn->on_token(7);
  const auto live = ledger->live_at(begun("a").context);
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0].reply, (Tokens{7}));
  EXPECT_TRUE(ledger->live_at(Sha256{}).empty());
}

TEST_F(LedgerTest, WithoutAFileItRemembersInMemory) {
  const auto ledger = Ledger::open({}, clock);
  ASSERT_NE(ledger, nullptr);
  const auto turn = ledger->begin(begun("a"));
  turn->on_event(TurnFinished{});
  turn->close(clock.wall_seconds());
  ASSERT_TRUE(ledger->flush());
  EXPECT_TRUE(ledger->find("a")->has_value());
}

class LedgerInMemory : public LedgerTest {
 protected:
  // Remembers `turns` with 20 kB of text each, in at most `most` bytes.
  std::unique_ptr<Ledger> filled(std::int64_t most, int turns, const std::string& in = "") {
    auto ledger = Ledger::open(
        {.path = in, .keep_text = true, .flush = 3600 * kSecond, .memory_bytes = most}, clock);
    running = ledger->begin(begun("running"));
    for (int i = 0; i < turns; ++i) {
      TurnRecord turn = begun(std::to_string(i));
      turn.request = std::string(20'000, 'x');
      const auto live = ledger->begin(std::move(turn));
      live->on_token(7);
      live->on_event(TurnFinished{});
      live->close(clock.wall_seconds());
      EXPECT_TRUE(ledger->flush());
    }
    return ledger;
  }
  static std::pair<std::size_t, std::size_t> count(Ledger& ledger) {
    const auto turns = ledger.list({.limit = 1000, .whole = true});
    std::size_t texts = 0;
    for (const TurnRecord& turn : *turns) {
      EXPECT_EQ(turn.keep_text, turn.id == "running" || !turn.request.empty()) << turn.id;
      texts += turn.request.empty() ? 0 : 1;
    }
    return {turns->size(), texts};
  }
  std::shared_ptr<LiveTurn> running;
};

TEST_F(LedgerInMemory, TheOldestTextsGoFirst) {
  const auto ledger = filled(2 << 20, 150);
  const auto [turns, texts] = count(*ledger);
  EXPECT_EQ(turns, 151U) << "figures and replies of all";
  EXPECT_GT(texts, 64U);
  EXPECT_LE(texts * 20'000, 2U << 20);
  EXPECT_TRUE((*ledger->find("0"))->request.empty());
  EXPECT_EQ((*ledger->find("0"))->reply, Tokens{7});
  EXPECT_EQ((*ledger->find("149"))->request.size(), 20'000U);
}

TEST_F(LedgerInMemory, ThenTheOldestRecords) {
  const auto ledger = filled(1 << 20, 150);
  const auto [turns, texts] = count(*ledger);
  EXPECT_LT(turns, 64U);
  EXPECT_EQ(texts, turns - 1) << "but for the one that runs";
  EXPECT_LE(texts * 20'000, 1U << 20);
  EXPECT_FALSE(ledger->find("0")->has_value());
  EXPECT_TRUE(ledger->find("149")->has_value());
  EXPECT_TRUE(ledger->find("running")->has_value());
}

TEST_F(LedgerInMemory, AFileIsNotBoundedButMemoryInItsPlaceIs) {
  EXPECT_EQ(count(*filled(1 << 20, 150, path)).second, 150U);
  EXPECT_LT(count(*filled(1 << 20, 150, folder.at("none/ledger.db"))).second, 64U);
}

TEST_F(LedgerTest, AFileThatCannotBeUsedIsSaidAndCostsNoTurn) {
  LedgerOptions options;
  options.path = folder.at("none/ledger.db");
  const auto ledger = Ledger::open(options, clock);
  ASSERT_NE(ledger, nullptr);
  EXPECT_NE(ledger->notice().find("memory only"), std::string::npos);
  const auto turn = ledger->begin(begun("a"));
  EXPECT_TRUE(ledger->find("a")->has_value());
}

TEST_F(LedgerTest, TokensAreForgottenWhenTheirTimeHasCome) {
  {
    const auto ledger = open();
    const auto turn = ledger->begin(begun("a"));
    turn->on_token(7);
    turn->on_event(TurnFinished{});
    turn->close(clock.wall_seconds());
  }
  clock.advance(7 * 86'400 * kSecond);
  {
    const auto ledger = open();
    EXPECT_TRUE((*ledger->find("a"))->reply.empty());
    EXPECT_TRUE(ledger->replies_at(begun("a").context, 4).empty());
  }
  clock.advance(23 * 86'400 * kSecond + kSecond);
  EXPECT_FALSE(open()->find("a")->has_value());
}

}  // namespace
}  // namespace samovar
