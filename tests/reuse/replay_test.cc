// Goal: a reply that a client sends back in its own spelling goes on where it was sampled: the live
// sequence is extended and only new tokens are computed.
// Method: random models sample letters, which no tokeniser would cut that way; the client trims the
// reply. The same without the memory of replies shows what is saved.
#include "tests/reuse/session.h"

namespace samovar {
namespace {

class Replayed : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(TinyModels, Replayed,
                         ::testing::Values(SAMOVAR_MODELS "/tiny-qwen35moe.gguf",
                                           SAMOVAR_MODELS "/tiny-qwen35.gguf"),
                         testing::model_test_name);

// A question, the reply without thinking, and a result after it, so that the template writes the
// reply as it was primed.
struct Exchange {
  Answer first;
  Answer second;
};

Exchange exchange(Session& session, bool remembers) {
  session.gbnf = "root ::= \" \" [a-z]{50} \" \"";
  session.reply_tokens = 200;
  ChatRequest chat = conversation(2000, 5);
  chat.enable_thinking = false;
  Exchange result;
  result.first = session.ask(chat);
  if (remembers) session.remember(chat, result.first);
  EXPECT_TRUE(result.first.text.starts_with(' ') && result.first.text.ends_with(' '));
  std::string trimmed = result.first.text;
  trimmed.erase(0, 1);
  trimmed.pop_back();
  chat.messages.push_back({.role = Role::assistant, .content = trimmed});
  chat.messages.push_back({.role = Role::tool, .content = "Done."});
  result.second = session.ask(chat);
  return result;
}

TEST_P(Replayed, AReplySentBackTrimmedExtendsTheLiveSequence) {
  Session session(GetParam(), 8192);
  ASSERT_TRUE(session.ok());
  const Exchange known = exchange(session, /*remembers=*/true);
  const TokenSpan body = TokenSpan(known.first.reply).first(known.first.reply.size() - 1);
  EXPECT_EQ(session.format().detokenize(body), known.first.text);
  EXPECT_NE(session.format().tokenize(known.first.text), Tokens(body.begin(), body.end()));

  // All that was sampled is in memory but the end token, which ended it.
  const auto held = known.first.offered + static_cast<Position>(body.size());
  EXPECT_EQ(known.second.timings.source, ReuseSource::live);
  EXPECT_EQ(known.second.timings.reused_tokens, held);
  EXPECT_EQ(known.second.timings.computed_tokens, known.second.offered - held);

  Session forgetful(GetParam(), 8192);
  ASSERT_TRUE(forgetful.ok());
  const Exchange unknown = exchange(forgetful, /*remembers=*/false);
  EXPECT_EQ(unknown.first.reply, known.first.reply);
  EXPECT_LT(unknown.second.timings.reused_tokens, known.first.offered);
  EXPECT_NE(unknown.second.timings.source, ReuseSource::live);
}

}  // namespace
}  // namespace samovar
