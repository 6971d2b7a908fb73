// Goal: a reply that comes back, spelled however the client likes, stands in the prompt with the
// tokens that were sampled; one that says something else never does.
// Method: random replies in the model's own format, tokenised as no tokeniser would, read as a
// client reads them, and sent back with random spellings, or with one thing changed.
#include "chat/replay.h"

#include <algorithm>
#include <thread>

#include "chat/replay_testing.h"

namespace samovar {
namespace {

using testing::begins_with;
using testing::chance;
using testing::Json;
using testing::message;
using testing::odd_tokens;
using testing::Random;
using testing::render;
using testing::tool_message;

struct Call {
  std::string name;
  Json arguments;
};

std::vector<Tool> tools() {
  constexpr const char* kParameters =
      R"({"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},)"
      R"("rate":{"type":"number"},"nested":{"type":"object"},"list":{"type":"array"},)"
      R"("all":{"type":"boolean"}}})";
  return {{"look_up", "Looks up.", kParameters}, {"write", "Writes.", kParameters}};
}

Call random_call(Random& random) {
  Call call{chance(random, 2) ? "look_up" : "write", {.kind = Json::Kind::object}};
  auto& members = call.arguments.members;
  members.emplace_back("text", testing::json_string("t" + testing::random_words(random, 5)));
  if (chance(random, 2)) {
    members.emplace_back("count", Json{.kind = Json::Kind::integer,
                                       .number = static_cast<int>(random() % 2000) - 1000});
  }
  if (chance(random, 2)) members.emplace_back("rate", Json{Json::Kind::fraction, 5, {}, {}});
  if (chance(random, 2)) {
    members.emplace_back("all",
                         Json{.kind = Json::Kind::boolean, .number = chance(random, 2) ? 1 : 0});
  }
  for (const auto& [name, kind] :
       {std::pair{"nested", Json::Kind::object}, std::pair{"list", Json::Kind::array}}) {
    if (chance(random, 2)) continue;
    Json value;
    do {
      value = testing::random_json(random, 3);
    } while (value.kind != kind);
    members.emplace_back(name, value);
  }
  std::ranges::shuffle(members, random);
  return call;
}

// <function=look_up> <parameter=text> ... as Qwen3.5 calls.
std::string xml_call(const Call& call, Random& random) {
  std::string text = "<tool_call>\n<function=" + call.name + ">\n";
  for (const auto& [name, value] : call.arguments.members) {
    text += "<parameter=" + name + ">\n";
    text += value.kind == Json::Kind::string ? value.text : testing::spelled(value, random, true);
    text += "\n</parameter>\n";
  }
  return text + "</function>\n</tool_call>";
}

// {"name": ..., "arguments": {...}}
std::string json_call(const Call& call, Random& random) {
  return "<tool_call>\n{\"name\": \"" + call.name +
         "\", \"arguments\": " + testing::spelled(call.arguments, random) + "}\n</tool_call>";
}

struct Family {
  const char* name;
  const char* template_name;
  const char* vocabulary;
  bool thinks;  // its primer opens the reasoning
  std::string (*write_call)(const Call&, Random&);
};

class ReplayTest : public ::testing::TestWithParam<Family> {
 protected:
  ReplayTest()
      : format_(testing::make_format(GetParam().template_name,
                                     testing::vocabulary(GetParam().vocabulary))) {}

  // A reply as the model writes it, without the end token.
  std::string text_of(const std::string& reasoning, const std::string& content,
                      const std::vector<Call>& calls, Random& random) const {
    std::string text;
    if (GetParam().thinks) text = reasoning + "\n</think>\n\n";
    text += content;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
      text += GetParam().write_call(calls[i], random);
    }
    return text;
  }

  [[nodiscard]] Tokens end() const { return format_->tokenize("<|im_end|>"); }

  // Takes `tokens` as the reply to `chat`; the message as a client gets it.
  ChatMessage remember(const RenderedChat& chat, const Tokens& tokens,
                       const std::vector<std::string>& call_ids = {}) {
    memory_.remember(chat.context, call_ids, format_->read_sampled(chat, tokens));
    return format_->read_reply(chat.syntax, tokens);
  }

  std::unique_ptr<ChatFormat> format_;
  ReplyMemory memory_;
};

constexpr Family kFamilies[] = {
    {"qwen35", "Qwen3.5-4B", "qwen35", true, xml_call},
    {"qwen25", "Qwen-Qwen2.5-7B-Instruct", "qwen2", false, json_call},
};
INSTANTIATE_TEST_SUITE_P(Families, ReplayTest, ::testing::ValuesIn(kFamilies),
                         [](const auto& family) { return family.param.name; });

ChatRequest question() {
  ChatRequest request;
  request.messages = {message(Role::system, "Be terse."), message(Role::user, "What is it?")};
  request.tools = tools();
  return request;
}

// Adds space at the ends, or what a client makes of none.
void respell_ends(std::string& text, Random& random) {
  const std::size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  text = text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
  if (chance(random, 3)) text = "\n" + text;
  if (chance(random, 3)) text += " \n";
}

struct Turn {
  std::string reasoning;
  std::string content;
  std::vector<Call> calls;
};

Turn random_turn(Random& random) {
  Turn turn;
  turn.reasoning = testing::random_words(random, 12);
  const bool calls = chance(random, 2);
  if (!calls || chance(random, 2)) turn.content = testing::random_words(random, 30);
  if (calls) {
    for (auto count = 1 + random() % 3; count > 0; --count)
      turn.calls.push_back(random_call(random));
  }
  return turn;
}

// Loops of calls and results, answers and questions; every prompt begins with the one before and
// the tokens sampled after it.
TEST_P(ReplayTest, RepliesKeepTheirTokensHoweverTheyAreSpelled) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    ChatRequest request = question();
    Tokens expected;
    int replies = 0;
    for (int step = 0; step < 5; ++step) {
      const RenderedChat chat = render(*format_, request, &memory_);
      ASSERT_TRUE(begins_with(chat.prompt.tokens, expected)) << chat.text;
      ASSERT_EQ(chat.replayed, replies) << chat.text;
      Turn turn = random_turn(random);
      if (turn.calls.empty() && step < 4) turn.calls.push_back(random_call(random));
      std::string text = text_of(turn.reasoning, turn.content, turn.calls, random);
      if (chance(random, 3)) text += " \n";
      const Tokens tokens = testing::joined(odd_tokens(*format_, text, random), end());
      const std::vector<std::string> ids(turn.calls.size(), "call_" + std::to_string(random()));
      ChatMessage reply = remember(chat, tokens, ids);
      ASSERT_EQ(reply.tool_calls.size(), turn.calls.size()) << text << "\n" << reply.content;
      expected = testing::joined(chat.prompt.tokens, tokens);
      ++replies;

      respell_ends(reply.content, random);
      if (chance(random, 2)) reply.reasoning.clear();
      request.messages.push_back(reply);
      auto& sent = request.messages.back().tool_calls;
      for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i].id = chance(random, 2) ? ids[i] : "toolu_" + std::to_string(i);
        sent[i].arguments = testing::spelled(turn.calls[i].arguments, random);
      }
      for (const ToolCall& call : std::vector(sent)) {
        request.messages.push_back(tool_message(call.id, testing::random_words(random, 8)));
      }
      if (sent.empty()) break;
    }
  }
}

// The prompt's structure is what its tokens say.
TEST_P(ReplayTest, StructureFitsTheTokensThatWereSampled) {
  Random random(7);
  ChatRequest request = question();
  for (int step = 0; step < 4; ++step) {
    const RenderedChat chat = render(*format_, request, &memory_);
    const Prompt found =
        format_
            ->resume({.prompt = chat.prompt.tokens,
                      .primer = TokenSpan(chat.prompt.tokens)
                                    .subspan(static_cast<std::size_t>(chat.prompt.primer_start)),
                      .reply = {},
                      .syntax = ChatFormat::save(*chat.syntax)})
            ->prompt;
    EXPECT_EQ(chat.prompt.message_starts, found.message_starts);
    EXPECT_EQ(chat.prompt.reply_starts, found.reply_starts);
    EXPECT_EQ(chat.prompt.system_end, found.system_end);
    EXPECT_EQ(chat.prompt.reply_starts.size(), static_cast<std::size_t>(step + 1));
    EXPECT_EQ(chat.prompt.primer_start, chat.prompt.reply_starts.back());
    const RenderedChat plain = render(*format_, request);
    EXPECT_EQ(TokenSpan(plain.prompt.tokens).size() - plain.prompt.primer_start,
              TokenSpan(chat.prompt.tokens).size() - chat.prompt.primer_start);
    const Call call = random_call(random);
    const std::string text = text_of("Hm.", "I call.", {call}, random);
    request.messages.push_back(
        remember(chat, testing::joined(odd_tokens(*format_, text, random), end())));
    request.messages.push_back(tool_message("call_1", "Done."));
  }
}

bool same_calls(const ChatMessage& left, const ChatMessage& right) {
  return meaning_of(left.tool_calls) == meaning_of(right.tool_calls);
}

// One change of meaning, and the client's text counts.
TEST_P(ReplayTest, AReplyThatSaysSomethingElseIsTokenisedAnew) {
  Random random(9);
  for (int round = 0; round < 150; ++round) {
    ChatRequest request = question();
    const RenderedChat chat = render(*format_, request, &memory_);
    Turn turn = random_turn(random);
    const std::string text = text_of(turn.reasoning, turn.content, turn.calls, random);
    const Tokens tokens = testing::joined(odd_tokens(*format_, text, random), end());
    const std::vector<std::string> ids(turn.calls.size(), "call_" + std::to_string(round));
    ChatMessage reply = remember(chat, tokens, ids);
    const ChatMessage unchanged = reply;
    for (std::size_t i = 0; i < turn.calls.size(); ++i) reply.tool_calls[i].id = ids[i];
    const auto changed_call = turn.calls.empty() ? 0 : random() % turn.calls.size();
    switch (random() % 5) {
      case 0:
        reply.content += "!";
        break;
      case 1:
        reply.reasoning = GetParam().thinks ? reply.reasoning + "?" : "Hm?";
        break;
      case 2:
        if (turn.calls.empty()) continue;
        testing::change(turn.calls[changed_call].arguments, random);
        reply.tool_calls[changed_call].arguments =
            testing::spelled(turn.calls[changed_call].arguments, random);
        break;
      case 3:
        if (turn.calls.empty()) continue;
        reply.tool_calls[changed_call].name += "_all";
        break;
      default:
        if (turn.calls.size() < 2) continue;
        std::ranges::reverse(reply.tool_calls);
        if (same_calls(reply, unchanged)) continue;
    }
    request.messages.push_back(reply);
    for (const ToolCall& call : reply.tool_calls) {
      request.messages.push_back(tool_message(call.id, "Done."));
    }
    if (reply.tool_calls.empty()) request.messages.push_back(tool_message("x", "Done."));
    const RenderedChat next = render(*format_, request, &memory_);
    EXPECT_EQ(next.replayed, 0) << next.text << "\n" << text;
    EXPECT_EQ(next.reasoning_restored, 0);
    EXPECT_EQ(next.prompt.tokens, render(*format_, request).prompt.tokens);
  }
}

}  // namespace
}  // namespace samovar
