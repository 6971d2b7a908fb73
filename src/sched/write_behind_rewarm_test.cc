// Goal: re-warms delay nothing that is to be written, what they made is written once when its
// session is quiet, and what was learned of a session outlives the process. Method: as
// write_behind_test.cc.
#include "sched/write_behind_testing.h"
#include "store/blob_format.h"

namespace samovar {
namespace {

class Unasked : public WriteBehindTest {
 protected:
  // A re-warm of the talk with its reply as the template shows it later.
  std::shared_ptr<RecordingSink> rewarm(const Conversation& talk) {
    TurnRequest request;
    request.kind = TurnKind::rewarm;
    request.prompt = talk.prompt();
    request.prompt.tokens.resize(static_cast<std::size_t>(request.prompt.primer_start));
    request.prompt.reply_starts.pop_back();
    auto sink = std::make_shared<RecordingSink>();
    scheduler->add_rewarm(std::move(request), sink);
    return sink;
  }
  [[nodiscard]] Position stored(const Prompt& prompt) const {
    const auto chain = rig.store->longest(prompt.tokens, prompt.size() - 1);
    return chain ? chain->position : 0;
  }
};

TEST_F(Unasked, ARewarmDelaysNothingThatIsToBeWritten) {
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 2000);
  const Prompt said = talk.prompt();
  talk.messages.back() = as_reply(words(20'000, 5));  // 20 s
  const auto warmed = rewarm(talk);
  pass(2600 * kMillisecond);
  EXPECT_FALSE(warmed->ended());
  EXPECT_GT(stored(said), 2400) << "written while the re-warm runs";
  EXPECT_EQ(written.snapshots, 3) << "system, end of history, end of reply; nothing of the re-warm";
}

TEST_F(Unasked, WhatARewarmMadeIsWrittenOnceAndComesBack) {
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 2000);
  talk.messages.back() = as_reply(words(1500, 5));
  const auto warmed = rewarm(talk);
  pass(20 * kSecond);
  ASSERT_TRUE(warmed->finished);
  EXPECT_EQ(written.snapshots, 4) << "the two tips, the system prompt, and the end of the re-warm";
  pass(60 * kSecond);
  EXPECT_EQ(written.snapshots, 4) << "and that is all";
  lose_power();
  talk.messages.push_back(words(50, 6));
  const auto sink = send(talk);
  finish(*sink);
  EXPECT_EQ(sink->timings().source, ReuseSource::store);
  EXPECT_LE(sink->timings().computed_tokens, 60 + 128);
}

TEST_F(Unasked, ASpareLineIsNotWrittenWhenItGoes) {
  engine_options.sequences = 3;
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 2000);
  talk.messages.back() = as_reply(words(1500, 5));
  const auto warmed = rewarm(talk);
  pass(20 * kSecond);
  ASSERT_TRUE(warmed->finished);
  turn(talk, 100);  // goes on in the guest
  pass(20 * kSecond);
  const int before = written.snapshots;
  Conversation other = new_talk(300, 2);
  turn(other, 100);
  Conversation third = new_talk(300, 3);
  turn(third, 100);  // takes the spare line's sequence
  EXPECT_EQ(scheduler->memory().evictions(), 1);
  EXPECT_EQ(written.snapshots, before);
}

// A system prompt with the time at its end, then a question.
Conversation with_clock(unsigned time) {
  Tokens system = words(3000, 1);
  const Tokens clock = words(10, 5000 + time);
  system.insert(system.end(), clock.begin(), clock.end());
  return {.messages = {system, words(300, 2), as_reply(words(100, 3)), words(40, 6000 + time)}};
}

TEST_F(Unasked, WhatWasLearnedIsWrittenOnceAndOutlivesTheProcess) {
  boot();
  for (unsigned time = 0; time < 6; ++time) {
    finish(*send(with_clock(time)));
    pass(60 * kSecond);
  }
  int learned = 0;
  for (const std::string& path : rig.files(".snap")) {
    const auto bytes = rig.fs.read_raw(path);
    const auto blob = decode_blob_header(Bytes(*bytes).first(*blob_header_bytes(*bytes)));
    if (blob && blob->header.anchor == AnchorKind::divergence) ++learned;
  }
  EXPECT_EQ(learned, 1);
  lose_power();
  const auto sink = send(with_clock(9));
  finish(*sink);
  EXPECT_EQ(sink->timings().source, ReuseSource::store);
  EXPECT_GE(sink->timings().reused_tokens, 3000 - 512);
}

// After a restart nothing is resident; what the store shares with the prompt teaches as well.
TEST_F(Unasked, APlaceThatChangedIsLearnedFromWhatIsStored) {
  boot();
  finish(*send(with_clock(0)));
  pass(60 * kSecond);
  lose_power();
  const auto first = send(with_clock(1));
  finish(*first);
  EXPECT_EQ(first->timings().matched_tokens, 0) << "nothing is resident";
  const auto second = send(with_clock(2));
  finish(*second);
  EXPECT_GE(second->timings().reused_tokens, 2000) << "a segment's end before the difference";
}

}  // namespace
}  // namespace samovar
