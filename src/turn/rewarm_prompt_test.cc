// Goal: what is warmed is what any next message of the user will find as its history, and only
// where that parts from what is in memory. Method: a template of one token a byte.
#include "turn/rewarm_prompt.h"

#include "prefix/shared_prefix.h"
#include "turn/rewarm_testing.h"

namespace samovar {
namespace {

using testing::render_bytes;
using testing::sampled;

constexpr Position kMin = 64;

std::string text(int length, char fill) {
  return std::string(static_cast<std::size_t>(length), fill);
}

// A tool loop of `steps` with reasoning, up to the message that is answered.
ChatRequest loop(int steps) {
  ChatRequest chat;
  chat.messages = {{.role = Role::system, .content = text(100, 's')},
                   {.role = Role::user, .content = text(50, 'u')}};
  for (int i = 0; i < steps; ++i) {
    const auto letter = static_cast<char>('a' + i);
    chat.messages.push_back({.role = Role::assistant,
                             .content = "",
                             .reasoning = text(80, letter),
                             .tool_calls = {{.id = "1", .name = "f", .arguments = "{}"}}});
    chat.messages.push_back({.role = Role::tool, .content = text(200, letter)});
  }
  return chat;
}

const ChatMessage kReply{
    .role = Role::assistant, .content = text(90, 'r'), .reasoning = text(300, 't')};

struct Warmed {
  ChatRequest chat;
  ChatMessage reply;
  RenderPrompt render = [](const ChatRequest& request) { return render_bytes(request); };

  [[nodiscard]] std::optional<Prompt> prompt() const {
    const Prompt asked = *render(chat);
    const Tokens tokens = sampled(reply);
    auto found = rewarm_prompt(
        {.request = chat, .reply = reply, .prompt = asked, .reply_tokens = tokens}, render, kMin);
    EXPECT_TRUE(found);
    return found ? *found : std::nullopt;
  }
};

TEST(RewarmPrompt, IsTheHistoryOfAnyNextMessage) {
  for (const int steps : {0, 1, 4}) {
    const Warmed warmed{loop(steps), kReply};
    const auto prompt = warmed.prompt();
    ASSERT_TRUE(prompt) << steps;
    for (const char* next : {"Go on", "x", "What else was there?"}) {
      ChatRequest chat = warmed.chat;
      chat.messages.push_back(kReply);
      chat.messages.push_back({.role = Role::user, .content = next});
      const Prompt asked = render_bytes(chat);
      EXPECT_EQ(shared_prefix(asked.tokens, prompt->tokens), prompt->size());
      // Up to where the message begins, which is a message start in both.
      EXPECT_EQ(prompt->message_starts.back(), prompt->size());
      EXPECT_EQ(asked.message_starts[prompt->message_starts.size() - 1], prompt->size());
      EXPECT_EQ(prompt->reply_starts.back(), asked.reply_starts[prompt->reply_starts.size() - 1]);
      EXPECT_LT(prompt->reply_starts.back(), prompt->size());
      EXPECT_EQ(prompt->system_end, asked.system_end);
    }
  }
}

TEST(RewarmPrompt, NoneWhereTheReplyIsExtendedAsItWasSampled) {
  Warmed keeps{loop(2), kReply};
  keeps.render = [](const ChatRequest& request) { return render_bytes(request, false); };
  EXPECT_FALSE(keeps.prompt());
  Warmed plain{loop(0), kReply};
  plain.reply.reasoning.clear();
  EXPECT_FALSE(plain.prompt());
}

TEST(RewarmPrompt, NoneWhereWhatDepartsIsShort) {
  Warmed warmed{loop(0), kReply};
  warmed.reply.content = text(kMin, 'r');
  EXPECT_FALSE(warmed.prompt());
  warmed.reply.content = text(kMin + 1, 'r');
  EXPECT_TRUE(warmed.prompt());
}

TEST(RewarmPrompt, NoneAfterAMessageOfTheModelThatIsContinued) {
  Warmed warmed{loop(0), kReply};
  warmed.chat.messages.push_back({.role = Role::assistant, .content = "Well, "});
  EXPECT_FALSE(warmed.prompt());
}

TEST(RewarmPrompt, LeavesOutWhatATemplatePutsBeforeTheNewestMessage) {
  Warmed warmed{loop(2), kReply};
  // The newest message's length, at the start of the reply before it: nothing after that is shared.
  warmed.render = [](const ChatRequest& request) -> Result<Prompt> {
    ChatRequest changed = request;
    changed.messages[changed.messages.size() - 2].content.insert(
        0, std::to_string(request.messages.back().content.size()));
    return render_bytes(changed);
  };
  const auto prompt = warmed.prompt();
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->message_starts.size(),
            7U);  // system, user, two steps of two, the reply's start
}

TEST(RewarmPrompt, FailsWithWhatTheTemplateSays) {
  const ChatRequest chat = loop(0);
  const Prompt asked = render_bytes(chat);
  const auto refuses = [](const ChatRequest&) -> Result<Prompt> {
    return fail(ErrorKind::invalid_argument, "roles must alternate");
  };
  const auto found = rewarm_prompt(
      {.request = chat, .reply = kReply, .prompt = asked, .reply_tokens = {}}, refuses, kMin);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "roles must alternate");
}

}  // namespace
}  // namespace samovar
