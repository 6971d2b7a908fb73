// Goal: a script says what it is written to say, where it is written to say it.
#include "tests/scripted/script.h"

#include <gtest/gtest.h>

namespace samovar::testing {
namespace {

constexpr const char* kSystem = "<|im_start|>system\nYou are terse.<|im_end|>\n";
constexpr const char* kPrimer = "<|im_start|>assistant\n<think>\n";

std::string user(const std::string& text) { return "<|im_start|>user\n" + text + "<|im_end|>\n"; }
std::string model(const std::string& text) {
  return "<|im_start|>assistant\n" + text + "<|im_end|>\n";
}
std::string result(const std::string& text) {
  return user("<tool_response>\n" + text + "\n</tool_response>");
}

std::string reply(const std::string& rules, const std::string& prompt) {
  const auto script = Script::parse(R"({"rules": [)" + rules + "]}");
  if (!script) return "refused: " + script.error().message;
  const auto text = script->reply_to(prompt);
  return text ? *text : "none: " + text.error().message;
}

TEST(Script, TheFirstRuleThatFitsCounts) {
  const std::string rules = R"(
      {"system": "verbose", "reply": "system"},
      {"user": "weather", "tool": true, "reply": "told"},
      {"user": "weather", "step": 0, "reply": "ask"},
      {"last": "again", "replies": 2, "reply": "third"},
      {"tool": false, "reply": "else"})";
  EXPECT_EQ(reply(rules, kSystem + user("Hello") + kPrimer), "else");
  EXPECT_EQ(reply(rules, user("weather") + kPrimer), "ask");
  EXPECT_EQ(reply(rules, user("weather") + model("call") + result("sunny") + kPrimer), "told");
  EXPECT_EQ(reply(rules, user("a") + model("b") + user("c") + model("d") + user("again") + kPrimer),
            "third");
  EXPECT_EQ(reply(rules, user("a") + model("b") + user("again") + kPrimer), "else");
  EXPECT_EQ(reply(rules, user("weather") + model("a") + user("Thanks") + kPrimer), "else");
  EXPECT_EQ(reply(rules, "<|im_start|>system\nBe verbose<|im_end|>\n" + user("a") + kPrimer),
            "system");
  EXPECT_EQ(reply(rules, user("a") + model("b") + result("c") + kPrimer),
            "none: the script has no rule for the message: <tool_response>\nc\n</tool_response>");
}

// Goal: a rule may count the replies of a running tool loop. A result of a tool is no message of a
// person, though the template makes it one.
TEST(Script, StepsAreCountedFromThePersonsMessage) {
  const std::string rules = R"({"step": 2, "reply": "two"}, {"reply": "other"})";
  const std::string before = user("a") + model("b");
  const std::string loop = user("go") + model("1") + result("x") + model("2") + result("y");
  EXPECT_EQ(reply(rules, before + loop + kPrimer), "two");
  EXPECT_EQ(reply(rules, before + user("go") + kPrimer), "other");
}

TEST(Script, ReplyMayComeFromTheMessage) {
  EXPECT_EQ(reply(R"({"reply_after": "say: "})", user("Please say: a\n</think>\n\nb") + kPrimer),
            "a\n</think>\n\nb");
  EXPECT_TRUE(reply(R"({"reply_after": "say: "})", user("b") + kPrimer).starts_with("none"));
}

// Goal: the reply fits to where the prompt ends: in open reasoning, behind closed reasoning, within
// the reply itself.
TEST(Script, GoesOnWhereThePromptEnds) {
  const std::string rule = R"({"reply": "hm\n</think>\n\nyes, <b>"})";
  EXPECT_EQ(reply(rule, user("a") + kPrimer), "hm\n</think>\n\nyes, <b>");
  EXPECT_EQ(reply(rule, user("a") + kPrimer + "\n</think>\n\n"), "yes, <b>");
  EXPECT_EQ(reply(rule, user("a") + kPrimer + "hm\n</think>\n\nyes"), ", <b>");
}

TEST(Script, RefusesWhatIsNoScript) {
  const auto refused = [](const char* json) { return !Script::parse(json).has_value(); };
  EXPECT_TRUE(refused("{"));
  EXPECT_TRUE(refused("{}"));
  EXPECT_TRUE(refused(R"({"rules": [{"last": "a"}]})"));
  EXPECT_TRUE(refused(R"({"rules": [{"last": 1, "reply": "a"}]})"));
  EXPECT_TRUE(refused(R"({"rules": [{"reply": "a", "reply_after": "b"}]})"));
  EXPECT_FALSE(Script::read("/nowhere/script.json").has_value());
}

}  // namespace
}  // namespace samovar::testing
