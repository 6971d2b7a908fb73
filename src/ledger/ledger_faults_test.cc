// Goal: whatever happens to the ledger's file while it is in use costs records of turns that have
// ended, at worst, never a turn or the memory; and it goes on by itself as soon as it can. Method:
// a database that is overwritten while it is open, and a limit on the size of files.
#include <algorithm>
#include <functional>

#include "base/executor.h"
#include "ledger/ledger.h"
#include "ledger/ledger_testing.h"

namespace samovar {
namespace {

using testing::DiskRefuses;
using testing::spoil_database;

constexpr int kWaitingMax = 1000;  // turns that ended and wait for the disk (ledger.cc)

TurnRecord turn_named(const std::string& id, const std::string& session = "s") {
  TurnRecord turn;
  turn.id = id;
  turn.session = session;
  turn.created = FakeClock().wall_seconds();
  turn.context.fill(3);
  turn.primer = {1};
  turn.prompt = {1, 2, 3};
  turn.keep_text = true;
  turn.request = "the request of " + id;
  turn.syntax.parser = "p";
  return turn;
}

// --- the file ---

// From where on it is overwritten: its header too, or only what comes behind the first page.
class LedgerFileDamage : public testing::LedgerFolder,
                         public ::testing::WithParamInterface<std::size_t> {
 protected:
  std::unique_ptr<LedgerFile> open() {
    auto file = LedgerFile::open(path);
    EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().describe());
    return file ? std::move(*file) : nullptr;
  }
};

INSTANTIATE_TEST_SUITE_P(From, LedgerFileDamage, ::testing::Values(0U, 4096U), [](const auto& at) {
  return at.param == 0 ? "TheStart" : "TheSecondPage";
});

TEST_P(LedgerFileDamage, IsFoundByAnyUseWhichIsThenDoneInANewFile) {
  const std::vector<std::function<bool(LedgerFile&)>> uses = {
      [](LedgerFile& file) { return file.put({turn_named("b")}, 5000).has_value(); },
      [](LedgerFile& file) { return file.put_replies({turn_named("a")}, 5000).has_value(); },
      [](LedgerFile& file) { return file.find("a").has_value(); },
      [](LedgerFile& file) { return file.list({}).has_value(); },
      [](LedgerFile& file) { return file.list({.whole = true}).has_value(); },
      [](LedgerFile& file) { return file.replies_at(turn_named("a").context, 4).has_value(); },
      [](LedgerFile& file) { return file.erase("a").has_value(); },
      [](LedgerFile& file) { return file.purge_session("s").has_value(); },
      [](LedgerFile& file) { return file.expire(0, 0, 0).has_value(); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    const auto file = open();
    ASSERT_TRUE(file->put({turn_named("a")}, 5000).has_value());
    spoil_database(path, GetParam());
    EXPECT_EQ(file->take_notice(), "");
    EXPECT_TRUE(uses[i](*file));
    const std::string notice = file->take_notice();
    EXPECT_NE(notice.find(path + ".damaged"), std::string::npos) << notice;
    EXPECT_NE(notice.find("Check the disk"), std::string::npos) << notice;
    EXPECT_EQ(file->take_notice(), "") << "it is said once";
    EXPECT_FALSE(file->find("a")->has_value());
    EXPECT_TRUE(file->put({turn_named("c")}, 5000).has_value());
    EXPECT_TRUE(file->find("c")->has_value());
    EXPECT_EQ(file->take_notice(), "");
    ASSERT_TRUE(file->purge_session("s").has_value());
  }
}

TEST_P(LedgerFileDamage, OnlyTheLastDamagedFileIsKept) {
  const auto file = open();
  for (const std::string id : {"first", "second", "third"}) {
    ASSERT_TRUE(file->put({turn_named(id)}, 5000).has_value());
    spoil_database(path, GetParam());
    EXPECT_TRUE(file->list({}).has_value());
    EXPECT_NE(file->take_notice(), "");
  }
  const auto names = files();
  for (const std::string& name : names) EXPECT_TRUE(name.starts_with("ledger.db")) << name;
  EXPECT_EQ(std::ranges::count_if(names, [](const auto& name) { return name.contains("damaged"); }),
            1);
}

TEST_P(LedgerFileDamage, ThatCannotBeSetAsideIsAnErrorUntilItCan) {
  const auto file = open();
  ASSERT_TRUE(file->put({turn_named("a")}, 5000).has_value());
  spoil_database(path, GetParam());
  // A folder in its place cannot be replaced by a file.
  std::filesystem::create_directories(path + ".damaged/full");
  EXPECT_FALSE(file->put({turn_named("b")}, 5000).has_value());
  EXPECT_FALSE(file->list({}).has_value());
  EXPECT_FALSE(file->find("a").has_value());
  EXPECT_EQ(file->take_notice(), "");
  std::filesystem::remove_all(path + ".damaged");
  EXPECT_TRUE(file->put({turn_named("b")}, 5000).has_value());
  EXPECT_NE(file->take_notice(), "");
  EXPECT_TRUE(file->find("b")->has_value());
}

// --- the ledger ---

class LedgerFaults : public testing::LedgerFolder {
 protected:
  std::unique_ptr<Ledger> open() {
    LedgerOptions options;
    options.path = path;
    options.flush = 3600 * kSecond;  // only when the test says so
    return Ledger::open(options, clock);
  }
  std::shared_ptr<LiveTurn> ended(Ledger& ledger, const std::string& id) {
    auto turn = ledger.begin(turn_named(id));
    turn->on_token(7);
    turn->on_event(TurnFailed{.error = {ErrorKind::cancelled, "gone"}, .timings = {}});
    turn->update([&](TurnRecord& record) { record.message = "the message of " + id; });
    turn->close(clock.wall_seconds());
    return turn;
  }

  FakeClock clock;
};

TEST_F(LedgerFaults, WhatRunsWhileTheFileIsDamagedIsInTheNewOne) {
  ::testing::internal::CaptureStderr();
  {
    const auto ledger = open();
    const auto running = ledger->begin(turn_named("running"));
    running->on_token(7);
    ended(*ledger, "ended");
    ASSERT_TRUE(ledger->flush());
    spoil_database(path, 0);
    running->on_token(8);  // its row is in the old file only
    EXPECT_TRUE(ledger->flush());
    EXPECT_FALSE(ledger->find("ended")->has_value()) << "that is lost";
    EXPECT_EQ(ledger->list({})->size(), 1U);
    EXPECT_EQ(ledger->replies_at(turn_named("a").context, 4).size(), 1U);
    ended(*ledger, "later");
    EXPECT_TRUE(ledger->flush());
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("it is kept as " + path + ".damaged"), std::string::npos) << log;
  EXPECT_EQ(log.find("damaged (", log.find("damaged (") + 1), std::string::npos) << "once: " << log;
  const auto ledger = open();
  EXPECT_EQ(ledger->notice(), "");
  const TurnRecord cut = **ledger->find("running");
  EXPECT_EQ(cut.reply, (Tokens{7, 8}));
  EXPECT_EQ(cut.prompt, (Tokens{1, 2, 3}));
  EXPECT_EQ(cut.request, "the request of running");
  EXPECT_TRUE(ledger->find("later")->has_value());
}

TEST_F(LedgerFaults, DamageThatOpeningDoesNotShowIsFoundAtTheStart) {
  {
    const auto ledger = open();
    ended(*ledger, "ended");
  }
  spoil_database(path, 4096);
  ::testing::internal::CaptureStderr();
  const auto ledger = open();
  EXPECT_TRUE(ledger->list({})->empty());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("it is kept as " + path + ".damaged"), std::string::npos) << log;
  ended(*ledger, "next");
  EXPECT_TRUE(ledger->flush());
  EXPECT_EQ(ledger->list({})->size(), 1U);
}

TEST_F(LedgerFaults, WhoeverAsksFindsTheDamageToo) {
  const auto ledger = open();
  const auto running = ledger->begin(turn_named("running"));
  ended(*ledger, "ended");
  ASSERT_TRUE(ledger->flush());
  spoil_database(path, 4096);
  EXPECT_FALSE(ledger->find("ended")->has_value());
  EXPECT_TRUE(ledger->flush()) << "what runs is written again";
  const auto turns = ledger->list({});
  ASSERT_EQ(turns->size(), 1U);
  EXPECT_EQ((*turns)[0].id, "running");
  spoil_database(path, 4096);
  EXPECT_EQ(ledger->purge_session("s").value().turns, 0);
  EXPECT_TRUE(running->forgotten());
}

TEST_F(LedgerFaults, WhatCannotBeWrittenStaysInMemoryAndIsWrittenLater) {
  const auto ledger = open();
  ASSERT_TRUE(ledger->flush());
  {
    const DiskRefuses refusal;
    ended(*ledger, "a");
    const auto running = ledger->begin(turn_named("b"));
    EXPECT_FALSE(ledger->flush());
    EXPECT_FALSE(ledger->flush());
    const TurnRecord waiting = **ledger->find("a");
    EXPECT_EQ(waiting.reply, (Tokens{7})) << "what replay needs";
    EXPECT_EQ(waiting.status, TurnStatus::incomplete);
    EXPECT_TRUE(waiting.prompt.empty()) << "what would fill the memory";
    EXPECT_EQ(waiting.request + waiting.message, "");
    const TurnRecord runs = **ledger->find("b");
    EXPECT_EQ(runs.prompt, (Tokens{1, 2, 3}));
    EXPECT_EQ(runs.request, "the request of b");
    running->on_event(TurnFinished{});
    running->close(clock.wall_seconds());
  }
  EXPECT_TRUE(ledger->list({})->empty()) << "the disk is left alone for a while";
  clock.advance(11 * kSecond);
  EXPECT_EQ(ledger->list({})->size(), 2U);
  EXPECT_EQ((*ledger->find("a"))->reply, (Tokens{7}));
  EXPECT_EQ((*ledger->find("b"))->request, "the request of b") << "it had not ended in that time";
}

TEST_F(LedgerFaults, WhatWaitsForTheDiskIsBounded) {
  const auto ledger = open();
  std::vector<std::shared_ptr<LiveTurn>> running;
  {
    const DiskRefuses refusal;
    running.push_back(ledger->begin(turn_named("runs")));
    for (int i = 0; i < kWaitingMax + 50; ++i) ended(*ledger, std::to_string(i));
    EXPECT_FALSE(ledger->flush());
    EXPECT_FALSE(ledger->find("0")->has_value());
    EXPECT_FALSE(ledger->find("49")->has_value()) << "the oldest went";
    EXPECT_TRUE(ledger->find("50")->has_value());
    EXPECT_TRUE(ledger->find("runs")->has_value()) << "what runs is no burden";
    ended(*ledger, "one more");
    EXPECT_FALSE(ledger->flush());
    EXPECT_FALSE(ledger->find("50")->has_value());
  }
  EXPECT_TRUE(ledger->flush());
  EXPECT_EQ(ledger->list({.limit = 5000})->size(), kWaitingMax + 1U);
}

TEST_F(LedgerFaults, ARefusalAndItsEndAreSaidOnce) {
  const auto ledger = open();
  ASSERT_TRUE(ledger->flush());
  {
    const DiskRefuses refusal;
    ended(*ledger, "a");
    EXPECT_FALSE(ledger->flush());
  }
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(ledger->flush());
  EXPECT_TRUE(ledger->flush());
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::string works = "writing works again";
  EXPECT_NE(log.find(works), std::string::npos) << log;
  EXPECT_EQ(log.find(works, log.find(works) + 1), std::string::npos) << log;
}

// --- what the engine thread shares with the ledger's ---

TEST(LiveTurn, PromptAndRequestAreThereUntilItShrinks) {
  LiveTurn turn(turn_named("a"));
  EXPECT_EQ(turn.record().prompt, (Tokens{1, 2, 3}));
  turn.update([](TurnRecord& record) {
    EXPECT_TRUE(record.prompt.empty()) << "it is not copied under the lock";
    EXPECT_TRUE(record.request.empty());
    record.message = "m";
    record.session = "other";
  });
  EXPECT_EQ(turn.record().request, "the request of a");
  EXPECT_EQ(turn.record().message, "m");
  EXPECT_EQ(turn.session(), "other");
  EXPECT_FALSE(turn.ended());
  turn.shrink();
  EXPECT_TRUE(turn.record().prompt.empty());
  EXPECT_EQ(turn.record().request + turn.record().message, "");
  EXPECT_EQ(turn.record().primer, (Tokens{1}));
  turn.close(5);
  EXPECT_TRUE(turn.ended());
}

TEST(LiveTurn, TokensComeWhileOthersReadAndDropWhatIsLarge) {
  TurnRecord record = turn_named("a");
  record.prompt.assign(100'000, 5);
  const Tokens prompt = record.prompt;
  LiveTurn turn(std::move(record));
  constexpr int kTokens = 20'000;
  ThreadPool engine(1, "engine");
  engine.post([&] {
    for (int i = 0; i < kTokens; ++i) turn.on_token(i);
  });
  std::size_t before = 0;
  for (int reads = 0; before < kTokens; ++reads) {
    const TurnRecord now = turn.record();
    ASSERT_GE(now.reply.size(), before);
    before = now.reply.size();
    for (std::size_t i = 0; i < before; i += 97) ASSERT_EQ(now.reply[i], static_cast<Token>(i));
    ASSERT_TRUE(now.prompt == prompt || now.prompt.empty());
    if (reads == 10) turn.shrink();
  }
  engine.stop();
}

}  // namespace
}  // namespace samovar
