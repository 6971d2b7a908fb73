// Goal: what was put is found as it was; what is forgotten is gone from the file's bytes too; a
// file that makes no sense costs nothing but itself.
#include "ledger/ledger_file.h"

#include <sys/stat.h>

#include "ledger/ledger_testing.h"

namespace samovar {
namespace {

namespace fs = std::filesystem;

TurnRecord sample(const std::string& id, const std::string& session = "s") {
  TurnRecord turn;
  turn.id = id;
  turn.session = session;
  turn.session_named = true;
  turn.dialect = "chat.completions";
  turn.model = "tiny";
  turn.created = 1000;
  turn.ended = 1010;
  turn.status = TurnStatus::complete;
  turn.finish = "stop";
  turn.timings.prompt_tokens = 100;
  turn.timings.reused_tokens = 90;
  turn.timings.computed_tokens = 10;
  turn.timings.prefill = 12'345;
  turn.timings.source = ReuseSource::anchor;
  turn.facts.stored = 64;
  turn.facts.restore_problem = "checksum";
  turn.messages = 3;
  turn.neutralised = "claude-code-billing";
  turn.shape = {1, 2, 3, 0, 255};
  Explanation miss;
  miss.cause = Cause::time_or_date;
  miss.title = "a time changed";
  miss.tokens_lost = 90;
  miss.seconds_lost = 1.5;
  miss.first.emplace();
  miss.first->token = 10;
  miss.first->message = 0;
  miss.first->role = Role::system;
  miss.first->old_text = "12:00 of the silent one";
  turn.miss = miss;
  turn.context.fill(7);
  turn.primer = {1, 2};
  turn.reply = {10, 11, 12, -1, 1 << 30};
  turn.syntax = {.format = 3,
                 .generation_prompt = "<think>",
                 .parser = "{\"p\":1}",
                 .stop = {"<end>", "a\nb"}};
  return turn;
}

class LedgerFileTest : public testing::LedgerFolder {
 protected:
  std::unique_ptr<LedgerFile> open() {
    auto file = LedgerFile::open(path);
    EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().describe());
    return file ? std::move(*file) : nullptr;
  }
};

TEST_F(LedgerFileTest, FindsATurnAsItWasPut) {
  const auto file = open();
  const TurnRecord put = sample("a");
  ASSERT_TRUE(file->put({put}, 5000).has_value());
  const auto found = file->find("a");
  ASSERT_TRUE(found.has_value() && found->has_value());
  const TurnRecord& turn = **found;
  EXPECT_EQ(turn.session, put.session);
  EXPECT_TRUE(turn.session_named);
  EXPECT_EQ(turn.status, TurnStatus::complete);
  EXPECT_EQ(turn.timings.prefill, put.timings.prefill);
  EXPECT_EQ(turn.timings.source, ReuseSource::anchor);
  EXPECT_EQ(turn.facts.stored, 64);
  EXPECT_EQ(turn.facts.restore_problem, "checksum");
  EXPECT_EQ(turn.shape, put.shape);
  ASSERT_TRUE(turn.miss.has_value());
  EXPECT_EQ(turn.miss->cause, Cause::time_or_date);
  EXPECT_EQ(turn.miss->title, put.miss->title);
  EXPECT_EQ(turn.miss->seconds_lost, 1.5);
  EXPECT_EQ(turn.miss->first->token, 10);
  EXPECT_EQ(turn.miss->first->byte, std::nullopt);
  EXPECT_EQ(turn.miss->first->role, Role::system);
  EXPECT_EQ(turn.miss->first->old_text, "");  // text is not kept
  EXPECT_EQ(turn.context, put.context);
  EXPECT_EQ(turn.primer, put.primer);
  EXPECT_EQ(turn.reply, put.reply);
  EXPECT_EQ(turn.syntax.parser, put.syntax.parser);
  EXPECT_EQ(turn.syntax.format, 3);
  EXPECT_EQ(turn.syntax.stop, put.syntax.stop);
  const auto none = file->find("b");
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
}

TEST_F(LedgerFileTest, SurvivesBeingClosedAndOpened) {
  ASSERT_TRUE(open()->put({sample("a")}, 5000).has_value());
  EXPECT_EQ((*open()->find("a"))->reply, sample("a").reply);
}

TEST_F(LedgerFileTest, ATurnPutAgainKeepsItsPlaceInTheOrder) {
  const auto file = open();
  ASSERT_TRUE(file->put({sample("a"), sample("b")}, 5000).has_value());
  TurnRecord again = sample("a");
  again.finish = "length";
  ASSERT_TRUE(file->put({again}, 5000).has_value());
  const auto turns = file->list({});
  ASSERT_TRUE(turns.has_value());
  ASSERT_EQ(turns->size(), 2U);
  EXPECT_EQ((*turns)[0].id, "b");
  EXPECT_EQ((*turns)[1].finish, "length");
}

TEST_F(LedgerFileTest, ListsBySessionStatusAndPage) {
  const auto file = open();
  std::vector<TurnRecord> turns;
  for (int i = 0; i < 10; ++i) {
    turns.push_back(sample(std::to_string(i), i % 2 == 0 ? "even" : "odd"));
    if (i >= 8) turns.back().status = TurnStatus::incomplete;
  }
  ASSERT_TRUE(file->put(turns, 5000).has_value());
  EXPECT_EQ(file->list({.session = "even"})->size(), 5U);
  EXPECT_EQ(file->list({.status = TurnStatus::incomplete})->size(), 2U);
  const auto page = file->list({.limit = 2, .before = "6", .session = "even"});
  ASSERT_EQ(page->size(), 2U);
  EXPECT_EQ((*page)[0].id, "4");
  EXPECT_EQ((*page)[1].id, "2");
}

TEST_F(LedgerFileTest, FindsTheRepliesOfAContextNewestFirst) {
  const auto file = open();
  TurnRecord first = sample("first");
  TurnRecord second = sample("second");
  second.reply = {42};
  TurnRecord elsewhere = sample("elsewhere");
  elsewhere.context.fill(8);
  ASSERT_TRUE(file->put({first, second, elsewhere}, 5000).has_value());
  const auto replies = file->replies_at(first.context, 10);
  ASSERT_EQ(replies->size(), 2U);
  EXPECT_EQ((*replies)[0].reply, second.reply);
  EXPECT_EQ((*replies)[1].syntax.generation_prompt, "<think>");
  EXPECT_EQ(file->contexts()->size(), 2U);
}

TEST_F(LedgerFileTest, TurnsThatRanAreIncompleteAndKeepTheirTokens) {
  TurnRecord running = sample("running");
  running.status = TurnStatus::running;
  running.ended = 0;
  running.timings.reply_tokens = 0;
  running.prompt = {5, 6, 7};
  ASSERT_TRUE(open()->put({running, sample("done")}, 5000).has_value());
  running.reply.push_back(77);
  ASSERT_TRUE(open()->put_replies({running}, 5000).has_value());
  const auto file = open();
  EXPECT_EQ(file->interrupt_running(2000, "crash").value(), 1);
  const TurnRecord cut = **file->find("running");
  EXPECT_EQ(cut.status, TurnStatus::incomplete);
  EXPECT_EQ(cut.error, "crash");
  EXPECT_EQ(cut.ended, 2000);
  EXPECT_EQ(cut.reply, running.reply);
  EXPECT_EQ(cut.timings.reply_tokens, static_cast<Position>(running.reply.size()));
  EXPECT_EQ(cut.prompt, running.prompt);
  EXPECT_EQ((*file->find("done"))->status, TurnStatus::complete);
}

TEST_F(LedgerFileTest, APromptIsForgottenOnceItsReplyIsComplete) {
  const auto file = open();
  TurnRecord turn = sample("a");
  turn.status = TurnStatus::running;
  turn.prompt = {5, 6, 7};
  ASSERT_TRUE(file->put({turn}, 5000).has_value());
  turn.status = TurnStatus::complete;
  ASSERT_TRUE(file->put({turn}, 5000).has_value());
  EXPECT_TRUE((*file->find("a"))->prompt.empty());
}

TEST_F(LedgerFileTest, TokensExpireBeforeTheRecordAndTheRecordInItsTurn) {
  const auto file = open();
  TurnRecord turn = sample("a");
  turn.status = TurnStatus::incomplete;
  turn.prompt = {5, 6, 7};
  ASSERT_TRUE(file->put({turn}, 5000).has_value());
  ASSERT_TRUE(file->expire(4999, 0, turn.created - 1).has_value());
  EXPECT_FALSE((*file->find("a"))->reply.empty());
  ASSERT_TRUE(file->expire(5000, 0, turn.created).has_value());
  const TurnRecord without = **file->find("a");
  EXPECT_TRUE(without.reply.empty());
  EXPECT_TRUE(without.prompt.empty());
  EXPECT_EQ(without.timings.prefill, turn.timings.prefill);
  ASSERT_TRUE(file->expire(5001, turn.created + 1, turn.created).has_value());
  EXPECT_FALSE(file->find("a")->has_value());
}

// Cut before its first token: there is no reply that would keep its prompt.
TEST_F(LedgerFileTest, APromptWithoutAReplyIsKeptForItsTimeToo) {
  TurnRecord turn = sample("a");
  turn.status = TurnStatus::incomplete;
  turn.reply.clear();
  turn.prompt = {5, 6, 7};
  const auto file = open();
  ASSERT_TRUE(file->put({turn}, 5000).has_value());
  ASSERT_TRUE(file->expire(4000, 0, turn.created - 1).has_value());
  EXPECT_EQ((*file->find("a"))->prompt, turn.prompt);
  ASSERT_TRUE(file->expire(4000, 0, turn.created).has_value());
  EXPECT_TRUE((*file->find("a"))->prompt.empty());
}

TEST_F(LedgerFileTest, KeepsTextOnlyWhereItIsAskedFor) {
  const auto file = open();
  TurnRecord silent = sample("silent");
  silent.request = "{\"secret\":\"of the silent one\"}";
  silent.message = "reply of the silent one";
  TurnRecord open_one = sample("open");
  open_one.keep_text = true;
  open_one.miss->first->old_text = "12:00";
  open_one.request = "{\"a\":1}";
  open_one.message = "{\"role\":\"assistant\"}";
  ASSERT_TRUE(file->put({silent, open_one}, 5000).has_value());
  EXPECT_EQ((*file->find("open"))->request, open_one.request);
  EXPECT_EQ((*file->find("open"))->miss->first->old_text, open_one.miss->first->old_text);
  EXPECT_EQ((*file->find("open"))->message, open_one.message);
  EXPECT_TRUE((*file->find("silent"))->request.empty());
  EXPECT_EQ(all_bytes().find("silent one"), std::string::npos);
}

TEST_F(LedgerFileTest, AListHasTokensAndTextIfAskedFor) {
  const auto file = open();
  TurnRecord texts = sample("texts");
  texts.keep_text = true;
  texts.request = "the request";
  texts.message = "the message";
  texts.reply.clear();
  ASSERT_TRUE(file->put({sample("a"), texts}, 5000).has_value());
  const auto short_ones = file->list({});
  ASSERT_EQ(short_ones->size(), 2U);
  EXPECT_TRUE((*short_ones)[1].reply.empty());
  EXPECT_EQ((*short_ones)[0].message, "");
  const auto whole = file->list({.whole = true});
  ASSERT_EQ(whole->size(), 2U);
  EXPECT_EQ((*whole)[1].reply, sample("a").reply);
  EXPECT_EQ((*whole)[1].syntax.stop, sample("a").syntax.stop);
  EXPECT_EQ((*whole)[1].timings.prefill, sample("a").timings.prefill);
  EXPECT_EQ((*whole)[0].message, "the message");
  EXPECT_EQ((*whole)[0].request, "the request");
  EXPECT_EQ(file->list({.session = "s", .text_only = true, .whole = true})->size(), 1U);
}

TEST_F(LedgerFileTest, PurgedSessionsLeaveNoBytesBehind) {
  const auto file = open();
  TurnRecord turn = sample("a", "mine");
  turn.keep_text = true;
  turn.request = "the very secret request";
  TurnRecord other = sample("b", "other");
  ASSERT_TRUE(file->put({turn, other}, 5000).has_value());
  EXPECT_NE(all_bytes().find("very secret"), std::string::npos);
  EXPECT_EQ(file->purge_session("mine").value().turns, 1);
  EXPECT_EQ(all_bytes().find("very secret"), std::string::npos);
  EXPECT_FALSE(file->find("a")->has_value());
  EXPECT_TRUE(file->find("b")->has_value());
  EXPECT_EQ(file->purge_session("mine").value().turns, 0);
}

TEST_F(LedgerFileTest, IsKeptWithinItsBytesButForWhatRuns) {
  const auto file = open();
  TurnRecord running = sample("running");
  running.status = TurnStatus::running;
  TurnRecord ended = sample("ended");
  ended.keep_text = running.keep_text = true;
  ended.request = running.request = std::string(100'000, 'x');
  ASSERT_TRUE(file->put({running, ended}, 5000).has_value());
  EXPECT_FALSE(file->in_memory());
  const auto before = file->bytes();
  ASSERT_TRUE(before.has_value());
  EXPECT_GT(*before, 200'000);
  EXPECT_EQ(file->keep_within(*before), false);
  EXPECT_EQ(file->keep_within(*before - 1), true);
  EXPECT_LT(*file->bytes(), *before - 90'000);
  EXPECT_EQ(file->keep_within(0), false) << "nothing is left that ended";
  EXPECT_FALSE(file->find("ended")->has_value());
  EXPECT_EQ((*file->find("running"))->request.size(), 100'000U);
}

TEST_F(LedgerFileTest, ErasesOneTurn) {
  const auto file = open();
  ASSERT_TRUE(file->put({sample("a"), sample("b")}, 5000).has_value());
  EXPECT_TRUE(file->erase("a").value());
  EXPECT_FALSE(file->erase("a").value());
  EXPECT_EQ(file->list({})->size(), 1U);
  EXPECT_EQ(file->replies_at(sample("a").context, 10)->size(), 1U);
}

TEST_F(LedgerFileTest, OnlyTheOwnerMayReadIt) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(open()->put({sample("a")}, 5000).has_value());
  ::umask(before);
  struct stat file{};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
}

TEST_F(LedgerFileTest, ADamagedFileIsSetAsideAndANewOneBegun) {
  ASSERT_TRUE(open()->put({sample("a")}, 5000).has_value());
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0);
    file << std::string(4096, 'x');
  }
  const auto file = open();
  ASSERT_NE(file, nullptr);
  EXPECT_NE(file->take_notice().find(".damaged"), std::string::npos);
  EXPECT_TRUE(fs::exists(path + ".damaged"));
  EXPECT_TRUE(file->list({})->empty());
  EXPECT_TRUE(file->put({sample("b")}, 5000).has_value());
}

TEST_F(LedgerFileTest, AFileOfANewerVersionIsLeftAlone) {
  ASSERT_TRUE(open()->put({sample("a")}, 5000).has_value());
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(60);  // user_version, big endian
    file << std::string("\0\0\0\x63", 4);
  }
  const auto opened = LedgerFile::open(path);
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("newer"), std::string::npos);
  EXPECT_FALSE(fs::exists(path + ".damaged"));
}

TEST_F(LedgerFileTest, AFolderThatIsNotThereIsAnError) {
  const auto opened = LedgerFile::open(folder.at("none/ledger.db"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("/none/ledger.db"), std::string::npos);
}

}  // namespace
}  // namespace samovar
