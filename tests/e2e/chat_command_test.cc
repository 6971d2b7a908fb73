// Goal: in `samovar chat` nothing that was typed or answered is ever lost, and what it sends never
// changes by itself. Method: the binary under a pseudo terminal, against a server that says and
// does what the test wants.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/e2e/chat_terminal.h"
#include "tests/e2e/fake_openai.h"

namespace samovar::testing {
namespace {

using Json = nlohmann::json;
using Words = ChatTerminal::Words;

const char* const kKept = "kept in the conversation";

Json user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }
Json assistant(const std::string& text) { return {{"role", "assistant"}, {"content", text}}; }

// Answers "reply 0", "reply 1" and so on.
void plain_reply(const FakeRequest& request, const FakeConnection& connection) {
  connection.begin_stream();
  connection.content("reply " + std::to_string(request.number));
  connection.finish();
}

// The first reply begins and never ends by itself; the others are plain.
FakeOpenAi::Script first_reply_hangs(const std::string& begin,
                                     std::atomic<bool>* closed = nullptr) {
  return [begin, closed](const FakeRequest& request, const FakeConnection& connection) {
    if (request.number > 0) {
      plain_reply(request, connection);
      return;
    }
    connection.begin_stream();
    if (!begin.empty()) connection.content(begin);
    const bool gone = connection.closed_by_client();
    if (closed != nullptr) *closed = gone;
  };
}

TEST(ChatCommand, StreamsAReplyWhereverTheNetworkCutsIt) {
  FakeOpenAi server([](const FakeRequest&, const FakeConnection& connection) {
    connection.begin_stream();
    const std::string event =
        ": keepalive\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"caf\xC3\xA9 \xF0\x9F\x98\x80 "
        "done\"}}]}\r\n\r\n";
    for (const char byte : event) connection.chunk({&byte, 1});
    connection.finish({{"usage",
                        {{"prompt_tokens", 1200},
                         {"completion_tokens", 3},
                         {"prompt_tokens_details", {{"cached_tokens", 1000}}}}}});
  });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url() + "/v1", "--system", "Sys", "--session", "one"});
  ASSERT_TRUE(chat.sees("fake-model at " + server.url()));
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  EXPECT_TRUE(chat.sees("café 😀 done"));
  EXPECT_TRUE(chat.sees("prompt 1,200 tokens, 1,000 of them cached"));
  EXPECT_TRUE(chat.sees("(measured here) · reply 3 tokens"));
  ASSERT_TRUE(chat.prompts());
  chat.type("\x04");
  EXPECT_TRUE(chat.sees("samovar chat --session one"));
  EXPECT_EQ(chat.exit_code(), 0);
  const FakeRequest request = server.chats(1)[0];
  EXPECT_EQ(request.body, R"({"model":"fake-model","messages":[{"role":"system","content":"Sys"},)"
                          R"({"role":"user","content":"Hello"}],"stream":true,)"
                          R"("stream_options":{"include_usage":true},"return_progress":true,)"
                          R"("prompt_cache_key":"one"})");
}

TEST(ChatCommand, CtrlCKeepsThePartialReply) {
  std::atomic<bool> closed = false;
  FakeOpenAi server(first_reply_hangs("Once upon", &closed));
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Tell");
  ASSERT_TRUE(chat.sees("Once upon"));
  chat.type("\x03");
  EXPECT_TRUE(chat.sees(kKept));
  ASSERT_TRUE(chat.prompts());
  EXPECT_TRUE(eventually([&] { return closed.load(); })) << "the server was told";
  chat.say("Go on");
  ASSERT_TRUE(chat.sees("reply 1"));
  EXPECT_EQ(server.chats(2)[1].messages(),
            Json({user("Tell"), assistant("Once upon"), user("Go on")}));
  ASSERT_TRUE(chat.prompts());
  chat.type("\x03");
  EXPECT_TRUE(chat.sees("Ctrl-C again"));
  ASSERT_TRUE(chat.prompts());
  chat.type("\x03");
  EXPECT_EQ(chat.exit_code(), 0);
}

TEST(ChatCommand, CtrlCBeforeTheFirstWordKeepsTheMessage) {
  FakeOpenAi server(first_reply_hangs(""));
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Tell");
  ASSERT_TRUE(chat.sees("waiting for the first word"));
  chat.type("\x03");
  ASSERT_TRUE(chat.sees("stopped before the first word"));
  ASSERT_TRUE(chat.prompts());
  chat.say("And more");
  ASSERT_TRUE(chat.sees("reply 1"));
  EXPECT_EQ(server.chats(2)[1].messages(), Json({user("Tell"), assistant(""), user("And more")}));
}

TEST(ChatCommand, AMessageTypedWhileItAnswersCutsTheReplyAndKeepsIt) {
  std::atomic<bool> closed = false;
  FakeOpenAi server(first_reply_hangs("Once upon", &closed));
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Tell");
  ASSERT_TRUE(chat.sees("Once upon"));
  chat.type("Shortex\x7Fr");
  ASSERT_TRUE(chat.sees("> Shorter")) << "what is typed is shown";
  chat.type("\r");
  EXPECT_TRUE(chat.sees(kKept));
  ASSERT_TRUE(chat.sees("reply 1"));
  EXPECT_TRUE(eventually([&] { return closed.load(); }));
  EXPECT_EQ(server.chats(2)[1].messages(),
            Json({user("Tell"), assistant("Once upon"), user("Shorter")}));
}

// Goal: a line begun while it answers is not lost when the reply ends first, and a command waits.
TEST(ChatCommand, ABegunLineMovesToThePromptAndACommandWaits) {
  std::atomic<bool> go_on = false;
  FakeOpenAi server([&](const FakeRequest& request, const FakeConnection& connection) {
    if (request.number > 0) {
      plain_reply(request, connection);
      return;
    }
    connection.begin_stream();
    connection.content("Once");
    EXPECT_TRUE(eventually([&] { return go_on.load(); }));
    connection.content(" upon");
    connection.finish();
  });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Tell");
  ASSERT_TRUE(chat.sees("Once"));
  chat.say("/stats");
  ASSERT_TRUE(chat.sees("when the reply is done"));
  chat.type("half a");
  ASSERT_TRUE(chat.sees("> half a"));
  go_on = true;
  ASSERT_TRUE(chat.sees("2 messages in the conversation")) << "the command ran after the reply";
  ASSERT_TRUE(chat.sees("half a")) << "at the prompt";
  chat.say(" line");
  ASSERT_TRUE(chat.sees("reply 1"));
  EXPECT_EQ(server.chats(2)[1].messages(),
            Json({user("Tell"), assistant("Once upon"), user("half a line")}));
}

TEST(ChatCommand, KilledInMidReplyItGoesOnWithWhatCame) {
  FakeOpenAi server(first_reply_hangs("Once upon a time"));
  const ChatState state;
  {
    ChatTerminal chat(state, {"--url", server.url(), "--session", "one"});
    ASSERT_TRUE(chat.prompts());
    chat.say("Tell");
    ASSERT_TRUE(chat.sees("Once upon a time"));
    ASSERT_TRUE(eventually([&] {
      return state.transcript("one").find("Once upon a time") != std::string::npos;
    })) << "kept while it comes";
    chat.kill_hard();
  }
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("/sessions");
  ASSERT_TRUE(chat.sees("1 turn "));
  ASSERT_TRUE(chat.prompts());
  chat.say("/resume one");
  ASSERT_TRUE(chat.sees("its last reply was cut when the program ended"));
  ASSERT_TRUE(chat.prompts());
  chat.say("And then?");
  ASSERT_TRUE(chat.sees("reply 1"));
  const auto requests = server.chats(2);
  EXPECT_EQ(requests[1].messages(),
            Json({user("Tell"), assistant("Once upon a time"), user("And then?")}));
  // The prompt begins with the very bytes of the first one.
  const std::string first = requests[0].body.substr(0, requests[0].body.find("],\"stream\""));
  EXPECT_TRUE(requests[1].body.starts_with(first)) << requests[1].body;
}

TEST(ChatCommand, ResumingAndRetryingSendsTheSameBytes) {
  FakeOpenAi server([](const FakeRequest& request, const FakeConnection& connection) {
    connection.begin_stream();
    connection.reasoning("so\n \"it\" is");
    connection.content("réply " + std::to_string(request.number) + "\n\n");
    connection.finish();
  });
  const ChatState state;
  {
    ChatTerminal chat(
        state, {"--url", server.url(), "--session", "one", "--thinking", "on", "--system", "Süs"});
    ASSERT_TRUE(chat.prompts());
    chat.say("First");
    ASSERT_TRUE(chat.sees("réply 0"));
    ASSERT_TRUE(chat.prompts());
    chat.say("Second");
    ASSERT_TRUE(chat.sees("réply 1"));
    ASSERT_TRUE(chat.prompts());
    chat.kill_hard();
  }
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("/resume 1");
  ASSERT_TRUE(chat.sees("4 messages"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/retry");
  ASSERT_TRUE(chat.sees("réply 2"));
  const auto requests = server.chats(3);
  EXPECT_EQ(requests[2].body, requests[1].body);
  EXPECT_NE(requests[1].body.find(R"("reasoning_content":"so\n \"it\" is")"), std::string::npos);
  EXPECT_NE(state.transcript("one").find("réply 1"), std::string::npos)
      << "the old reply stays in the transcript";
}

TEST(ChatCommand, EditChangesAMessageAndGoesOnFromThere) {
  FakeOpenAi server(plain_reply);
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  for (const char* text : {"First", "Second"}) {
    ASSERT_TRUE(chat.prompts());
    chat.say(text);
    ASSERT_TRUE(chat.sees("no figures"));
  }
  ASSERT_TRUE(chat.prompts());
  chat.say("/edit 7");
  ASSERT_TRUE(chat.sees("there is no message 7"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/edit 2");
  ASSERT_TRUE(chat.sees("Ctrl-C leaves everything"));
  ASSERT_TRUE(chat.sees("First"));
  chat.type("\x03");
  ASSERT_TRUE(chat.sees("nothing was changed"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/edit 2");
  ASSERT_TRUE(chat.sees("Ctrl-C leaves everything"));
  ASSERT_TRUE(chat.sees("First"));
  chat.say(" of all");
  ASSERT_TRUE(chat.sees("reply 2"));
  EXPECT_EQ(server.chats(3)[2].messages(), Json({user("First of all")}));
}

TEST(ChatCommand, LinesPastesAndSlashesArriveAsMeant) {
  FakeOpenAi server(plain_reply);
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  const std::vector<std::string> typed = {"\033[200~pasted\r\tlines /x\033[201~\r",
                                          "goes on \\\rhere\r", "\"\"\"\rblock\r\rend\r\"\"\"\r",
                                          " /etc/hosts\r", "é日本\r"};
  const std::vector<std::string> sent = {"pasted\n\tlines /x", "goes on \nhere", "block\n\nend",
                                         "/etc/hosts", "é日本"};
  for (std::size_t i = 0; i < typed.size(); ++i) {
    ASSERT_TRUE(chat.prompts());
    chat.type(typed[i]);
    ASSERT_TRUE(chat.sees("no figures"));
    const Json messages = server.chats(i + 1)[i].messages();
    EXPECT_EQ(messages.back(), user(sent[i]));
  }
  ASSERT_TRUE(chat.prompts());
  chat.say("/resme");
  EXPECT_TRUE(chat.sees("did you mean /resume?"));
}

TEST(ChatCommand, CtrlCAtThePromptClearsTheLineButDoesNotLoseIt) {
  FakeOpenAi server(plain_reply);
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.type("half a line");
  ASSERT_TRUE(chat.sees("half a line"));
  chat.type("\x03");
  ASSERT_TRUE(chat.sees("Ctrl-C again"));
  ASSERT_TRUE(chat.prompts());
  chat.type("\033[A");
  ASSERT_TRUE(chat.sees("half a line")) << "one arrow key away";
  chat.say("!");
  ASSERT_TRUE(chat.sees("reply 0"));
  EXPECT_EQ(server.chats(1)[0].messages(), Json({user("half a line!")}));
  ASSERT_TRUE(chat.prompts());
  chat.type("\x03");
  ASSERT_TRUE(chat.sees("Ctrl-C again")) << "counted anew after a message";
  ASSERT_TRUE(chat.prompts());
  chat.type("\x03");
  EXPECT_EQ(chat.exit_code(), 0);
}

TEST(ChatCommand, CommandsLookAfterConversations) {
  FakeOpenAi server(plain_reply);
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url(), "--session", "one"});
  const std::vector<std::pair<std::string, std::string>> steps = {
      {"/retry", "nothing to send again"},
      {"/resume", "no other conversation"},
      {"/history", "nothing was said yet"},
      {"/system Be kind", "set"},
      {"Hello", "no figures"},
      {"/system", "Be kind"},
      {"/history", "[reply]"},
      {"/save " + state.path() + "/out.json", "2 messages in"},
      {"/save " + state.path() + "/out.json", "File exists"},
      {"/save", "save where?"},
      {"/new", "conversation "},
      {"Other", "no figures"},
      {"/sessions", " one "},
      {"/resume nope", "there is no conversation \"nope\""},
      {"/resume 9", "there is no conversation 9"},
      {"/resume", "one: 2 messages"},
      {"/edit x", "there is no message x"},
      {"/system -", "computes the whole"},
      {"/system", "there is no system text"},
      {"/help", "/resume [NAME|NUMBER]"}};
  for (const auto& [typed, shown] : steps) {
    ASSERT_TRUE(chat.prompts()) << typed;
    chat.say(typed);
    ASSERT_TRUE(chat.sees(shown)) << typed;
  }
  std::ifstream saved(state.path() + "/out.json");
  EXPECT_EQ(
      Json::parse(saved, nullptr, false),
      Json({{{"role", "system"}, {"content", "Be kind"}}, user("Hello"), assistant("reply 0")}));
}

TEST(ChatCommand, AFailedSendKeepsTheMessage) {
  FakeOpenAi server([](const FakeRequest& request, const FakeConnection& connection) {
    if (request.number == 0) {
      connection.answer(503, R"({"error":{"message":"the queue is full"}})", "Retry-After: 3\r\n");
    } else {
      plain_reply(request, connection);
    }
  });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  EXPECT_TRUE(chat.sees("the queue is full"));
  EXPECT_TRUE(chat.sees("asks to wait 3 s"));
  EXPECT_TRUE(chat.sees("your message is kept"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/retry");
  ASSERT_TRUE(chat.sees("reply 1"));
  const auto requests = server.chats(2);
  EXPECT_EQ(requests[1].body, requests[0].body);
}

// Goal: what ends a reply in the middle, an error event or a dropped connection, loses nothing.
TEST(ChatCommand, ErrorsInMidReplyKeepThePartialReply) {
  FakeOpenAi server([](const FakeRequest& request, const FakeConnection& connection) {
    connection.begin_stream();
    connection.content("part " + std::to_string(request.number));
    if (request.number == 0) connection.chunk("data: {\"error\":{\"message\":\"melted\"}}\n\n");
    if (request.number == 1) return;                        // the connection drops
    if (request.number == 2) connection.send("0\r\n\r\n");  // an end without an end
    if (request.number == 3) connection.finish();
  });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  const std::vector<std::string> said = {"melted", "broke off in mid-reply",
                                         "ended the stream before the reply's end"};
  for (const std::string& words : said) {
    ASSERT_TRUE(chat.prompts());
    chat.say("More");
    EXPECT_TRUE(chat.sees(words));
    EXPECT_TRUE(chat.sees(kKept));
  }
  ASSERT_TRUE(chat.prompts());
  chat.say("More");
  ASSERT_TRUE(chat.sees("part 3"));
  EXPECT_EQ(server.chats(4)[3].messages(),
            Json({user("More"), assistant("part 0"), user("More"), assistant("part 1"),
                  user("More"), assistant("part 2"), user("More")}));
}

TEST(ChatCommand, FieldsAServerDoesNotKnowAreLeftOut) {
  FakeOpenAi server([](const FakeRequest& request, const FakeConnection& connection) {
    for (const std::string field : {"return_progress", "prompt_cache_key"}) {
      if (request.body.find(field) == std::string::npos) continue;
      connection.answer(400, R"({"error":{"message":"Unknown argument: )" + field + "\"}}");
      return;
    }
    plain_reply(request, connection);
  });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  ASSERT_TRUE(chat.sees("reply 2"));
  ASSERT_TRUE(chat.prompts());
  chat.say("Again");
  ASSERT_TRUE(chat.sees("reply 3")) << "it is remembered";
}

TEST(ChatCommand, WhyShowsTheServersExplanation) {
  FakeOpenAi server(
      [](const FakeRequest& request, const FakeConnection& connection) {
        connection.begin_stream("x-samovar-turn: chatcmpl-" + std::to_string(request.number) +
                                "\r\nx-samovar-miss: time; tokens=900\r\n");
        connection.content("reply");
        connection.finish(
            {{"usage",
              {{"prompt_tokens", 1000}, {"prompt_tokens_details", {{"cached_tokens", 100}}}}}});
      },
      [](const FakeRequest& request, const FakeConnection& connection) {
        if (request.path != "/v1/samovar/turns/chatcmpl-0/explain") {
          connection.answer(404, "{}");
          return;
        }
        connection.answer(200, R"({"id":"chatcmpl-0","class":"time","title":"A clock","detail":null,
            "remedy":"Put the time last","tokens_lost":900,"seconds_lost":1.5,
            "first_difference":{"message":0,"role":"system","old":"12:00","new":"12:01"}})");
      });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("/why");
  EXPECT_TRUE(chat.sees("no turn yet"));
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  EXPECT_TRUE(chat.sees("miss: time, /why"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/why");
  EXPECT_TRUE(chat.sees("A clock [time]"));
  EXPECT_TRUE(chat.sees("900 tokens computed again, 1.5 s"));
  EXPECT_TRUE(chat.sees("Put the time last"));
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  EXPECT_TRUE(chat.sees("miss: time"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/why");
  EXPECT_TRUE(chat.sees("explains no misses"));
  EXPECT_TRUE(chat.sees("100 of the last prompt's 1,000 tokens"));
}

TEST(ChatCommand, ShowsHowFarThePromptIs) {
  std::atomic<bool> go_on = false;
  FakeOpenAi server([&](const FakeRequest&, const FakeConnection& connection) {
    connection.begin_stream();
    connection.event(
        {{"choices", Json::array()},
         {"prompt_progress",
          {{"total", 40000}, {"cache", 10000}, {"processed", 25000}, {"time_ms", 10000}}}});
    EXPECT_TRUE(eventually([&] { return go_on.load(); }));
    connection.content("reply");
    connection.finish();
  });
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url()});
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  EXPECT_TRUE(chat.sees("prompt 25,000 / 40,000 · 10,000 reused · 1500 tok/s · 10 s left"));
  go_on = true;
  EXPECT_TRUE(chat.sees("reply"));
}

TEST(ChatCommand, OneConversationInTwoWindowsIsRefused) {
  FakeOpenAi server(plain_reply);
  const ChatState state;
  ChatTerminal chat(state, {"--url", server.url(), "--session", "one"});
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  ASSERT_TRUE(chat.sees("reply 0"));
  const Piped other = run_piped(state, {"--url", server.url(), "--session", "one", "Hi"}, nullptr);
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.errors.find("open in another window"), std::string::npos) << other.errors;
}

TEST(ChatCommand, WithoutATerminalTheReplyAloneIsTheOutput) {
  FakeOpenAi server([](const FakeRequest&, const FakeConnection& connection) {
    connection.begin_stream();
    connection.reasoning("hm");
    connection.content("line one\n");
    connection.content("line\ttwo");
    connection.finish();
  });
  const ChatState state;
  const Piped piped = run_piped(state, {"--url", server.url()}, "What is\n\xFFthis?\n");
  EXPECT_EQ(piped.code, 0) << piped.errors;
  EXPECT_EQ(piped.output, "line one\nline\ttwo\n");
  EXPECT_NE(piped.errors.find("first text"), std::string::npos) << piped.errors;
  EXPECT_EQ(piped.errors.find('\033'), std::string::npos);
  const Piped both = run_piped(state, {"--url", server.url(), "Sum", "up:"}, "text\n");
  EXPECT_EQ(both.code, 0) << both.errors;
  const Piped alone = run_piped(state, {"--url", server.url(), "Only this"}, nullptr);
  EXPECT_EQ(alone.code, 0) << alone.errors;
  const auto requests = server.chats(3);
  EXPECT_EQ(requests[0].messages(), Json({user("What is\n\xEF\xBF\xBDthis?")}));
  EXPECT_EQ(requests[1].messages(), Json({user("Sum up:\n\ntext")}));
  EXPECT_EQ(requests[2].messages(), Json({user("Only this")}));
  EXPECT_EQ(run_piped(state, {"--url", server.url()}, " \n").code, 2);
}

TEST(ChatCommand, ErrorsNameTheRemedyAndTheExitCode) {
  const ChatState state;
  std::string nowhere;
  {
    FakeOpenAi server(plain_reply);
    nowhere = server.url();
  }
  const Piped refused = run_piped(state, {"--url", nowhere, "Hi"}, nullptr);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("nothing listens at " + nowhere + ". start a server with"),
            std::string::npos)
      << refused.errors;
  EXPECT_EQ(refused.output, "");
  EXPECT_EQ(run_piped(state, {"--nonsense"}, nullptr).code, 2);
  EXPECT_EQ(run_piped(state, {"--session", "../x", "Hi"}, nullptr).code, 1);
  FakeOpenAi server([](const FakeRequest& request, const FakeConnection& connection) {
    const bool known = request.head.find("Authorization: Bearer secret\r\n") != std::string::npos;
    if (known) {
      plain_reply(request, connection);
    } else {
      connection.answer(401, R"({"error":{"message":"no key was given"}})");
    }
  });
  const Piped unknown = run_piped(state, {"--url", server.url(), "Hi"}, nullptr);
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.errors.find("SAMOVAR_API_KEY"), std::string::npos) << unknown.errors;
  std::ofstream(state.path() + "/key") << "secret\n";
  const Piped known =
      run_piped(state, {"--url", server.url(), "--key-file", state.path() + "/key", "Hi"}, nullptr);
  EXPECT_EQ(known.code, 0) << known.errors;
}

// Goal: with no server there the chat stays usable: once one is there, /retry sends.
TEST(ChatCommand, WithoutAServerTheChatSaysSoAndWaits) {
  std::string nowhere;
  {
    FakeOpenAi server(plain_reply);
    nowhere = server.url();
  }
  const ChatState state;
  ChatTerminal chat(state, {"--url", nowhere});
  EXPECT_TRUE(chat.sees("nothing listens at"));
  EXPECT_TRUE(chat.sees("samovar serve -m MODEL.gguf"));
  ASSERT_TRUE(chat.prompts());
  chat.say("Hello");
  EXPECT_TRUE(chat.sees("your message is kept"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/quit");
  EXPECT_EQ(chat.exit_code(), 0);
}

}  // namespace
}  // namespace samovar::testing
