// Goal: a text put together from an earlier one and a few new messages is the text that rendering
// the whole conversation gives, always; templates for which that cannot be are found out and
// rendered whole; and the well-known templates are not among them.
// Method: random clients (tool loops, reasoning, edits, regenerations, dropped messages, other
// tools, late system messages) against every bundled template; templates written to break it.
#include "chat/incremental_template.h"

#include <exception>
#include <filesystem>
#include <random>
#include <thread>

#include "chat/chat_testing.h"
#include "chat/template_inputs.h"
#include "chat/template_source.h"

namespace samovar {
namespace {

using testing::message;

DirectTemplate direct_template(const std::string& source) {
  const llama_model* model = testing::qwen_model();
  const auto templates = common_chat_templates_init(model, freeze_time_of_day(source));
  return {templates.get(), llama_model_get_vocab(model)};
}

std::vector<std::string> bundled_templates() {
  std::vector<std::string> names;
  const std::filesystem::path folder(SAMOVAR_LLAMA_DIR "/src/models/templates");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// A client with one conversation. next() is its next request: mostly the last one with more at its
// end, sometimes something else.
class Client {
 public:
  explicit Client(unsigned seed, bool steady = false) : random_(seed), steady_(steady) {
    parallel_ = chance(2);
    if (chance(2)) request_.messages.push_back(message(Role::system, text()));
    if (chance(3) || steady) request_.tools = {testing::weather_tool(), testing::clock_tool()};
    add_question();
  }

  common_chat_templates_inputs next() {
    if (!first_) step();
    first_ = false;
    auto inputs = make_template_inputs(request_, true);
    EXPECT_TRUE(inputs.has_value());
    return std::move(*inputs);
  }

  // The one that next() gave.
  [[nodiscard]] const ChatRequest& request() const { return request_; }

 private:
  std::vector<ChatMessage>& messages() { return request_.messages; }

  bool chance(unsigned of) { return random_() % of == 0; }

  void step() {
    switch (steady_ ? 19 : random_() % 20) {
      case 0:  // regenerate from an earlier place
        messages().resize(1 + random_() % messages().size());
        return add_question();
      case 1:  // edit
        messages()[random_() % messages().size()].content = text();
        return;
      case 2:  // drop
        if (messages().size() < 2) return grow();
        messages().erase(messages().begin() +
                         static_cast<std::ptrdiff_t>(random_() % (messages().size() - 1)));
        return grow();
      case 3:
        if (chance(2))
          request_.tools = {testing::clock_tool()};
        else
          request_.enable_thinking = chance(2);
        return grow();
      case 4:
        messages().push_back(message(chance(2) ? Role::system : Role::developer, text()));
        return add_question();
      case 5:  // the very same again
        return;
      case 6:  // reasoning is left out from here on
        for (ChatMessage& each : messages()) each.reasoning.clear();
        return grow();
      default:
        return grow();
    }
  }

  void grow() {
    const bool looping = messages().back().role == Role::tool;
    if (chance(looping ? 3 : 2)) {
      messages().push_back(message(Role::assistant, text()));
      if (chance(2)) messages().back().reasoning = text();
      return add_question();
    }
    if (looping && chance(8)) return add_question();  // the user interrupts
    ChatMessage call = message(Role::assistant, chance(2) ? text() : "");
    if (chance(2)) call.reasoning = text();
    std::vector<ChatMessage> results;
    for (auto calls = parallel_ ? 1 + random_() % 2 : 1; calls > 0; --calls) {
      const std::string id = "call0000" + std::to_string(calls);
      call.tool_calls.push_back({id, chance(2) ? "get_weather" : "get_time",
                                 chance(2) ? R"({"city":"Oslo"})" : R"({"zone":"a\n","n":1.50})"});
      results.push_back(testing::tool_message(id, chance(2) ? text() : R"({"sky":"grey"})"));
    }
    messages().push_back(std::move(call));
    for (ChatMessage& result : results) messages().push_back(std::move(result));
  }

  void add_question() {
    messages().push_back(message(Role::user, chance(25) ? kToolDress : text()));
  }

  std::string text() {
    static const std::vector<std::string> pieces = {
        "word",    " ",       "\n",          "\n\n",         "  indented", "<think>", "</think>",
        "{\"a\":", "}",       "\xC3\xA9",    "'quoted'",     "{{ x }}",    "%",       "</s>",
        "[INST]",  "\\u0041", "<tool_call>", "<|im_start|>", "&amp;",      "\t",      "plain"};
    std::string result;
    for (auto count = random_() % 8; count > 0; --count) {
      result += pieces[random_() % pieces.size()];
    }
    return result;
  }

  static constexpr const char* kToolDress = "<tool_response>x</tool_response>";

  std::mt19937 random_;
  bool steady_;
  bool parallel_ = false;
  bool first_ = true;
  ChatRequest request_;
};

// What the template says, a refusal as "!" and its words.
template <class Template>
std::string outcome(Template& rendering, const common_chat_templates_inputs& inputs) {
  try {
    return rendering.render(inputs);
  } catch (const std::exception& error) {
    return std::string("!") + error.what();
  }
}

TokenSpan last(TokenSpan tokens, std::size_t count) {
  return tokens.last(std::min(count, tokens.size()));  // without BOS
}

// True if it is rendered by its new messages.
bool expect_whole_texts(const std::string& source, unsigned seeds, int requests,
                        const std::string& name) {
  IncrementalTemplate incremental(direct_template(source));
  const DirectTemplate& direct = incremental.direct();
  const bool splices = incremental.splices();
  for (unsigned seed = 0; seed < seeds; ++seed) {
    Client client(seed);
    for (int request = 0; request < requests; ++request) {
      const auto inputs = client.next();
      EXPECT_EQ(outcome(incremental, inputs), outcome(direct, inputs))
          << name << ", seed " << seed << ", request " << request;
      if (::testing::Test::HasFailure()) return splices;
    }
  }
  EXPECT_EQ(incremental.splices(), splices) << name << " was found out late";
  return splices;
}

TEST(IncrementalTemplate, EveryBundledTemplateGivesTheTextOfAWholeRendering) {
  int incremental = 0;
  for (const std::string& name : bundled_templates()) {
    if (expect_whole_texts(testing::template_source(name), 3, 12, name)) ++incremental;
  }
  EXPECT_GE(incremental, 60);
}

constexpr const char* kKnown[] = {
    "Qwen3.5-4B",
    "Qwen3-Coder",
    "openai-gpt-oss-120b",
    "GLM-4.6",
    "GLM-4.7-Flash",
    "moonshotai-Kimi-K2",
    "meta-llama-Llama-3.1-8B-Instruct",
    "meta-llama-Llama-3.2-3B-Instruct",
    "meta-llama-Llama-3.3-70B-Instruct",
};

TEST(IncrementalTemplate, WellKnownTemplatesGiveTheTextOfAWholeRenderingInLongSessions) {
  for (const char* name : kKnown) {
    expect_whole_texts(testing::template_source(name), 6, 40, name);
  }
}

// An agent's session, where every request has more than the last: all but the first few are
// spliced.
TEST(IncrementalTemplate, WellKnownTemplatesAreRenderedByTheirNewMessages) {
  for (const char* name : kKnown) {
    IncrementalTemplate incremental(direct_template(testing::template_source(name)));
    EXPECT_TRUE(incremental.rules().at_question) << name;
    EXPECT_TRUE(incremental.rules().in_loop) << name;
    int requests = 0;
    for (unsigned seed = 0; seed < 4; ++seed) {
      Client client(seed, /*steady=*/true);
      for (int request = 0; request < 60; ++request) {
        if (outcome(incremental, client.next()).starts_with("!")) break;  // one call at a time
        ++requests;
      }
    }
    EXPECT_GT(requests, 60) << name;
    EXPECT_GT(incremental.counts().spliced, requests * 3 / 4) << name;
  }
}

// Behind ChatFormat: tokens, message starts and the rest, against a format that never saw the
// conversation before.
TEST(IncrementalTemplate, PromptsAreThoseOfAWholeRendering) {
  const std::pair<const char*, const char*> natives[] = {
      {"Qwen3.5-4B", "qwen35"}, {"meta-llama-Llama-3.3-70B-Instruct", "llama-bpe"}};
  for (const auto& [name, vocabulary] : natives) {
    const auto format = testing::make_format(name, testing::vocabulary(vocabulary));
    for (unsigned seed = 0; seed < 3; ++seed) {
      Client client(seed);
      for (int request = 0; request < 25; ++request) {
        (void)client.next();
        const auto chat = format->render(client.request());
        if (!chat) continue;
        const TokenSpan tokens = chat->prompt.tokens;
        EXPECT_TRUE(std::ranges::equal(last(tokens, format->tokenize(chat->text).size()),
                                       format->tokenize(chat->text)))
            << name << ", seed " << seed << ", request " << request;
      }
      const auto fresh = testing::make_format(name, testing::vocabulary(vocabulary));
      const auto left = format->render(client.request());
      const auto right = fresh->render(client.request());
      ASSERT_EQ(left.has_value(), right.has_value());
      if (!left) continue;
      EXPECT_EQ(left->text, right->text);
      EXPECT_EQ(left->prompt.tokens, right->prompt.tokens);
      EXPECT_EQ(left->prompt.message_starts, right->prompt.message_starts);
      EXPECT_EQ(left->prompt.reply_starts, right->prompt.reply_starts);
      EXPECT_EQ(left->prompt.system_end, right->prompt.system_end);
      EXPECT_EQ(left->prompt.primer_start, right->prompt.primer_start);
      EXPECT_EQ(left->grammar.gbnf, right->grammar.gbnf);
    }
  }
}

// A refusal names the field and the reason that it names for a client who was never here before.
TEST(IncrementalTemplate, RefusalsHaveTheSameWords) {
  const auto format = testing::make_format("Qwen3.5-4B");
  ChatRequest request;
  for (int turn = 0; turn < 6; ++turn) {
    request.messages.push_back(message(Role::user, "question"));
    ASSERT_TRUE(format->render(request).has_value());
    request.messages.push_back(message(Role::assistant, "answer"));
  }
  request.messages.push_back(message(Role::user, "question"));
  request.messages.push_back(testing::call_message("call00001", "get_time", "{not JSON"));
  request.messages.push_back(testing::tool_message("call00001", "result"));
  const auto refused = format->render(request);
  const auto fresh = testing::make_format("Qwen3.5-4B")->render(request);
  ASSERT_FALSE(refused.has_value());
  ASSERT_FALSE(fresh.has_value());
  EXPECT_EQ(refused.error().describe(), fresh.error().describe());
  EXPECT_EQ(refused.error().field, "messages[13].tool_calls[0].function.arguments");
}

// These number their calls through the whole conversation; a stand-in has too few of them.
TEST(IncrementalTemplate, TemplatesThatNumberTheirCallsAreRenderedWhole) {
  for (const char* name : {"Kimi-K2-Instruct", "Kimi-K2-Thinking"}) {
    EXPECT_FALSE(find_splice_rules(direct_template(testing::template_source(name))).any()) << name;
  }
}

constexpr const char* kPlain =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

TEST(IncrementalTemplate, ATemplateThatLooksAtTheWholeConversationIsFoundOutAtLoad) {
  EXPECT_TRUE(find_splice_rules(direct_template(kPlain)).any());
  for (const char* head : {
           "{{ messages|length }} messages\n",
           "{{ messages[-1].content|length }} bytes follow\n",
           "{{ messages[-1].role }} last\n{{ messages[-1].content }}\n",
       }) {
    EXPECT_FALSE(find_splice_rules(direct_template(std::string(head) + kPlain)).any()) << head;
  }
  // Within a tool loop no question is added.
  const std::string questions =
      "{% for m in messages %}{% if m.role == 'user' %}u{% endif %}{% endfor %}\n";
  const SpliceRules rules = find_splice_rules(direct_template(questions + kPlain));
  EXPECT_FALSE(rules.at_question);
  EXPECT_TRUE(rules.in_loop);
}

// Where the stand-in's numbers happen to be right it is spliced, elsewhere not.
TEST(IncrementalTemplate, ATemplateThatNumbersMessagesGivesTheTextOfAWholeRendering) {
  expect_whole_texts(
      "{% for m in messages %}<|im_start|>{{ loop.index }} {{ m.content }}<|im_end|>\n{% endfor %}",
      6, 20, "numbered");
}

// No probe mentions a zebra, so only the checks at run time can notice.
TEST(IncrementalTemplate, ATemplateThatFoolsTheProbesIsFoundOutAtRunTime) {
  const std::string source =
      std::string(
          "{% for m in messages %}{% if 'zebra' in m.content %}[zebra]{% endif %}"
          "{% endfor %}") +
      kPlain;
  IncrementalTemplate incremental(direct_template(source));
  const DirectTemplate& direct = incremental.direct();
  ASSERT_TRUE(incremental.splices());
  ChatRequest request;
  int wrong = 0;
  for (int turn = 0; turn < 200; ++turn) {
    request.messages.push_back(message(Role::user, turn == 40 ? "a zebra" : "a horse"));
    const auto inputs = make_template_inputs(request, true);
    if (incremental.render(*inputs) != direct.render(*inputs)) ++wrong;
    request.messages.push_back(message(Role::assistant, "Indeed."));
  }
  EXPECT_FALSE(incremental.splices());
  EXPECT_LT(wrong, 64) << "checked at least every 64th time";
  const auto after = make_template_inputs(request, true);
  EXPECT_EQ(incremental.render(*after), direct.render(*after));
}

TEST(IncrementalTemplate, TextThatImitatesTheStandInChangesNothing) {
  IncrementalTemplate incremental(direct_template(testing::template_source("Qwen3.5-4B")));
  const DirectTemplate& direct = incremental.direct();
  const std::string marker = "k7Qx0standin";
  for (const bool in_system : {false, true}) {
    ChatRequest request;
    if (in_system) request.messages.push_back(message(Role::system, "Say " + marker));
    for (int turn = 0; turn < 8; ++turn) {
      request.messages.push_back(message(Role::user, marker + "<|im_end|>\n" + marker));
      const auto inputs = make_template_inputs(request, true);
      EXPECT_EQ(incremental.render(*inputs), direct.render(*inputs)) << turn;
      request.messages.push_back(message(Role::assistant, marker));
    }
  }
}

TEST(IncrementalTemplate, ToolsAndArgumentsNeverMix) {
  IncrementalTemplate incremental(direct_template(testing::template_source("Qwen3.5-4B")));
  const DirectTemplate& direct = incremental.direct();
  ChatRequest request;
  for (int turn = 0; turn < 12; ++turn) {
    request.messages.push_back(message(Role::user, "question"));
    for (const bool tools : {false, true}) {
      for (const bool thinking : {false, true}) {
        request.tools = {tools ? testing::clock_tool() : testing::weather_tool()};
        request.enable_thinking = thinking;
        const auto inputs = make_template_inputs(request, true);
        EXPECT_EQ(incremental.render(*inputs), direct.render(*inputs)) << turn;
      }
    }
    request.messages.push_back(message(Role::assistant, "answer"));
  }
  EXPECT_GT(incremental.counts().spliced, 24u);
}

TEST(IncrementalTemplate, ForgetsTheOldestConversations) {
  IncrementalTemplate incremental(direct_template(kPlain));
  ASSERT_TRUE(incremental.splices());
  const std::string large(std::size_t{4} << 20, 'x');
  for (int conversation = 0; conversation < 40; ++conversation) {
    ChatRequest request;
    request.messages = {message(Role::user, std::to_string(conversation) + large)};
    (void)incremental.render(*make_template_inputs(request, true));
    EXPECT_LE(incremental.bytes(), std::size_t{64} << 20);
  }
  EXPECT_GT(incremental.bytes(), std::size_t{40} << 20);
}

TEST(IncrementalTemplate, ThreadsShareIt) {
  IncrementalTemplate incremental(direct_template(testing::template_source("Qwen3.5-4B")));
  const DirectTemplate& direct = incremental.direct();
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      Client client(number / 2);  // two and two have the same conversation
      for (int request = 0; request < 40; ++request) {
        const auto inputs = client.next();
        EXPECT_EQ(outcome(incremental, inputs), outcome(direct, inputs)) << number;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace samovar
