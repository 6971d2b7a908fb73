// Goal: what comes back from disk is what was computed. A conversation that is interrupted by
// restarts gives the same greedy bytes as one that is not; a prompt resumed from disk gives the
// bytes of the same prompt cold; and a wrong byte that got past the checksums would be seen here.
//
// Method: as warm_test.cc, with a store in a temporary folder. A restart is a new engine, scheduler
// and store on the same folder.
#include <filesystem>
#include <fstream>

#include "store/blob_format.h"
#include "tests/reuse/session.h"
#include "tests/support/blobs.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

constexpr Position kCells = 12'288;

class Stored : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::unique_ptr<Session> start(const std::string& folder) const {
    return std::make_unique<Session>(GetParam(), kCells, 2, folder);
  }

  [[nodiscard]] std::vector<std::string> files(const std::string& extension) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == extension) found.push_back(entry.path().string());
    }
    return found;
  }

  testing::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(TinyModels, Stored, ::testing::ValuesIn(testing::tiny_models()),
                         testing::model_test_name);

// Twelve turns; between every two a restart if `restarts`.
std::vector<Answer> twelve_turns(const std::string& model, const std::string& folder,
                                 bool restarts) {
  std::vector<Answer> answers;
  ChatRequest chat = conversation(1500, 40);
  auto session = std::make_unique<Session>(model, kCells, 2, folder);
  for (unsigned turn = 0; turn < 12 && session->ok(); ++turn) {
    answers.push_back(session->ask(chat));
    add_exchange(*session, chat, answers.back(), 400 + turn);
    if (!restarts) continue;
    session->save();
    session = nullptr;  // let go of the folder first
    session = std::make_unique<Session>(model, kCells, 2, folder);
  }
  return answers;
}

TEST_P(Stored, RestartsBetweenAllTurnsChangeNoByte) {
  const auto through = twelve_turns(GetParam(), "", false);
  const auto restarted = twelve_turns(GetParam(), folder_.path(), true);
  ASSERT_EQ(through.size(), 12U);
  ASSERT_EQ(restarted.size(), 12U);
  for (std::size_t turn = 0; turn < through.size(); ++turn) {
    EXPECT_EQ(restarted[turn].text, through[turn].text) << "turn " << turn;
    if (turn == 0) continue;
    const TurnTimings& timings = restarted[turn].timings;
    EXPECT_EQ(timings.source, ReuseSource::store) << "turn " << turn;
    EXPECT_LE(timings.computed_tokens, through[turn].timings.computed_tokens + kSplitCost);
  }
}

TEST_P(Stored, APromptResumedFromDiskEqualsTheSamePromptCold) {
  ChatRequest chat = conversation(6000, 41);
  {
    const auto session = start(folder_.path());
    ASSERT_TRUE(session->ok());
    const Answer first = session->ask(chat);
    add_exchange(*session, chat, first, 410);
    session->save();
  }
  const Answer resumed = start(folder_.path())->ask(chat);
  const Answer cold = start("")->ask(chat);
  EXPECT_EQ(resumed.timings.source, ReuseSource::store);
  EXPECT_LT(resumed.timings.computed_tokens, 300);
  EXPECT_EQ(cold.timings.computed_tokens, cold.offered);
  EXPECT_EQ(resumed.text, cold.text);
}

TEST_P(Stored, ABitThatRotsIsNoticedAndTheTurnGoesOnFromAShorterCheckpoint) {
  ChatRequest chat = conversation(3000, 42);
  {
    const auto session = start(folder_.path());
    ASSERT_TRUE(session->ok());
    const Answer first = session->ask(chat);
    add_exchange(*session, chat, first, 420);
    session->save();
  }
  for (const std::string& path : files(".seg")) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1000, std::ios::end);
    const auto byte = static_cast<char>(file.get() ^ 4);
    file.seekp(-1000, std::ios::end);
    file.put(byte);
  }
  const auto session = start(folder_.path());
  const Answer answer = session->ask(chat);
  EXPECT_EQ(answer.timings.source, ReuseSource::none);  // every segment was bad
  EXPECT_EQ(answer.text, start("")->ask(chat).text);
  EXPECT_GE(session->store()->stats().quarantined, 1U);
}

// The canary: bytes that are wrong although every checksum is right. If this passed unseen, none of
// the comparisons here would be worth anything.
TEST_P(Stored, CanaryAWrongByteThatPassesTheChecksumsChangesTheReply) {
  ChatRequest chat = conversation(3000, 43);
  {
    const auto session = start(folder_.path());
    ASSERT_TRUE(session->ok());
    const Answer first = session->ask(chat);
    add_exchange(*session, chat, first, 430);
    session->save();
  }
  auto victims = files(".snap");  // the state, or for plain models the K/V
  if (victims.empty()) victims = files(".seg");
  for (const std::string& path : victims) {
    std::ifstream in(path, std::ios::binary);
    std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(in)), {});
    const auto blob = decode_blob_header(Bytes(bytes).first(*blob_header_bytes(bytes)));
    ASSERT_TRUE(blob.has_value());
    std::vector<std::uint8_t> payload(bytes.begin() + static_cast<long>(blob->header_bytes),
                                      bytes.end());
    // The exponent of one number: of the state, which ends a snapshot, or of a key.
    const std::size_t at = path.ends_with(".snap") ? payload.size() - 64 : payload.size() * 2 / 5;
    payload[at / 4 * 4 + 3] ^= 0x40U;
    auto forged = encode_blob_header(blob->header, payload);
    forged.insert(forged.end(), payload.begin(), payload.end());
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(forged.data()), static_cast<long>(forged.size()));
  }
  const Answer answer = start(folder_.path())->ask(chat);
  EXPECT_EQ(answer.timings.source, ReuseSource::store);
  EXPECT_NE(answer.text, start("")->ask(chat).text);
}

TEST_P(Stored, AnInterruptedPrefillGoesOnAfterARestart) {
  const ChatRequest chat = conversation(6000, 44);
  {
    const auto session = start(folder_.path());
    ASSERT_TRUE(session->ok());
    session->ask_and_leave(chat, 0.7);
    session->save();
  }
  const Answer answer = start(folder_.path())->ask(chat);
  EXPECT_EQ(answer.timings.source, ReuseSource::store);
  EXPECT_GT(answer.timings.reused_tokens, answer.offered / 2);
  EXPECT_EQ(answer.text, start("")->ask(chat).text);
}

TEST_P(Stored, SessionsThatDoNotFitInMemoryComeBackFromDisk) {
  constexpr int kSessions = 6;
  Session session(GetParam(), 4096, 2, folder_.path());  // room for two
  ASSERT_TRUE(session.ok());
  std::vector<ChatRequest> chats;
  for (unsigned i = 0; i < kSessions; ++i) chats.push_back(conversation(1400, 500 + 50 * i));
  int restored = 0;
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < kSessions; ++i) {
      const Answer answer = session.ask(chats[i]);
      if (answer.timings.source == ReuseSource::store) ++restored;
      if (round > 0) {
        EXPECT_LE(answer.timings.computed_tokens, 250) << "session " << i << " round " << round;
      }
      add_exchange(session, chats[i], answer, 900 + 10 * round + i);
    }
    for (unsigned side = 0; side < 20; ++side) {
      session.ask(conversation(300, 2000 + 100 * round + side));
    }
  }
  EXPECT_GE(restored, 2 * kSessions - 2);  // the last one may still be in memory
}

}  // namespace
}  // namespace samovar
