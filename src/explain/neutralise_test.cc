// Goal: the known volatile line becomes the same for every request, and nothing else is ever
// touched. Method: the line's forms as they were seen, with near misses of each kind; random text.
#include "explain/neutralise.h"

#include <rapidcheck.h>

#include "explain/explain_testing.h"
#include "explain/tool_order.h"

namespace samovar {
namespace {

using testing::message;

std::string neutralised(std::string text, Role role = Role::system) {
  ChatRequest request;
  request.messages = {message(role, std::move(text))};
  (void)neutralise(request, RuleSet::all());
  return request.messages[0].content;
}

TEST(BillingRule, KnownFormsLoseTheirChangingValuesOnly) {
  const std::pair<const char*, const char*> forms[] = {
      {"x-anthropic-billing-header: cc_version=2.1.100.7b4; cc_entrypoint=cli; cch=eb6c6;\nYou are",
       "x-anthropic-billing-header: cc_version=2.1.100.000; cc_entrypoint=cli; cch=00000;\nYou "
       "are"},
      {"x-anthropic-billing-header: cc_version=2.1.101.e51; cc_entrypoint=cli; cch=a5145;You are",
       "x-anthropic-billing-header: cc_version=2.1.101.000; cc_entrypoint=cli; cch=00000;You are"},
      {"x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=sdk-cli; cch=36ee5; "
       "cc_workload=cron;\n\nYou are",
       "x-anthropic-billing-header: cc_version=2.1.177.000; cc_entrypoint=sdk-cli; cch=00000; "
       "cc_workload=cron;\n\nYou are"},
      {"x-anthropic-billing-header: cc_version=2.1.257.1f2; cc_entrypoint=sdk-cli;\nYou",
       "x-anthropic-billing-header: cc_version=2.1.257.000; cc_entrypoint=sdk-cli;\nYou"},
      {"x-anthropic-billing-header: cc_version=2.1.38; cc_entrypoint=sdk-ts; cch=90d92;",
       "x-anthropic-billing-header: cc_version=2.1.38; cc_entrypoint=sdk-ts; cch=00000;"},
  };
  for (const auto& [text, expected] : forms) EXPECT_EQ(neutralised(text), expected);
}

TEST(BillingRule, TwoRequestsOfOneSessionBecomeTheSame) {
  const std::string start = "x-anthropic-billing-header: cc_version=2.1.101.";
  EXPECT_EQ(neutralised(start + "e51; cc_entrypoint=cli; cch=a5145;You are"),
            neutralised(start + "0af; cc_entrypoint=cli; cch=defa0;You are"));
}

TEST(BillingRule, NearMissesAreLeftAlone) {
  const char* texts[] = {
      "x-anthropic-billing-header: cch=a5145;",  // not the known fields
      "x-anthropic-billing-header: cc_version=2.1.1.abc; cch=a5145;",
      "x-anthropic-billing-header: cc_entrypoint=cli; cc_version=2.1.1.abc; cch=a5145;",
      "x-anthropic-billing-header: cc_version=2.1.1; cc_entrypoint=cli; cch=a514;",
      "x-anthropic-billing-header: cc_version=2.1.1; cc_entrypoint=cli; cch=a5145",
      "x-anthropic-billing-header: cc_version=2.1.1; cc_entrypoint=cli; cch=A5145;",
      "x-anthropic-billing-header: cc_version=2.1.1.xyz; cc_entrypoint=cli;",
      "x-anthropic-billing-header: cc_version=2.1.1; cc_entrypoint=cli; cch=a5145; cch=b5145;",
      "X-Anthropic-Billing-Header: cc_version=2.1.1; cc_entrypoint=cli; cch=a5145;",
      " x-anthropic-billing-header: cc_version=2.1.1.abc; cc_entrypoint=cli; cch=a5145;",
      "Hello.\nx-anthropic-billing-header: cc_version=2.1.1.abc; cc_entrypoint=cli; cch=a5145;",
      "x-anthropic-billing-header:\n cc_version=2.1.1.abc; cc_entrypoint=cli; cch=a5145;",
      "x-anthropic-billing-header:",
      "",
  };
  for (const char* text : texts) EXPECT_EQ(neutralised(text), text);
}

TEST(BillingRule, OnlySystemMessagesAtTheTop) {
  const std::string line =
      "x-anthropic-billing-header: cc_version=2.1.1.abc; cc_entrypoint=cli; cch=a5145;";
  for (const Role role : {Role::user, Role::assistant, Role::tool, Role::developer}) {
    EXPECT_EQ(neutralised(line, role), line) << to_string(role);
  }
  ChatRequest request;
  request.messages = {message(Role::user, "hi"), message(Role::system, line)};
  EXPECT_TRUE(neutralise(request, RuleSet::all()).empty());
  EXPECT_EQ(request.messages[1].content, line);
}

TEST(BillingRule, UsesAreReported) {
  ChatRequest request;
  request.messages = {
      message(Role::system, "You are kind."),
      message(Role::system,
              "x-anthropic-billing-header: cc_version=2.1.1.abc; cc_entrypoint=cli; cch=a5145;")};
  const auto applied = neutralise(request, RuleSet::defaults());
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(applied[0], (AppliedRule{"claude-code-billing", 1, "content", 2}));
  EXPECT_EQ(describe(applied), "claude-code-billing=2");
  EXPECT_TRUE(neutralise(request, RuleSet::defaults()).empty()) << "nothing is left to do";
  EXPECT_EQ(describe({}), "");
}

TEST(BillingRule, OffMeansOff) {
  ChatRequest request;
  request.messages = {message(
      Role::system, "x-anthropic-billing-header: cc_version=2.1.1.abc; cc_entrypoint=cli;")};
  const std::string before = request.messages[0].content;
  EXPECT_TRUE(neutralise(request, RuleSet()).empty());
  EXPECT_EQ(request.messages[0].content, before);
}

TEST(BillingRule, AnyOtherTextStaysByteForByte) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    RC_ASSERT(neutralised(text) == text);
    const std::string line = "x-anthropic-billing-header:" + text;
    RC_ASSERT(neutralised(line).size() == line.size());
  }));
}

TEST(RuleSet, ListsAreReadAndWritten) {
  EXPECT_EQ(RuleSet::parse("none").value().list(), "none");
  EXPECT_EQ(RuleSet::parse("all").value(), RuleSet::all());
  EXPECT_EQ(RuleSet::parse("default").value(), RuleSet::defaults());
  EXPECT_EQ(RuleSet::parse(" claude-code-billing , default ").value().list(),
            "claude-code-billing");
  for (const VolatileRule& rule : volatile_rules()) {
    EXPECT_TRUE(RuleSet::parse(rule.name).value().has(rule.name));
    EXPECT_FALSE(rule.help.empty());
  }
}

TEST(RuleSet, UnknownNamesAreRefusedWithTheKnownOnes) {
  for (const char* list : {"billing", "", "all,none", "claude-code-billing,", "none,x"}) {
    const auto rules = RuleSet::parse(list);
    ASSERT_FALSE(rules.has_value()) << list;
    EXPECT_EQ(rules.error().field, "--neutralise");
    EXPECT_NE(rules.error().remedy.find("claude-code-billing"), std::string::npos);
  }
}

TEST(SortTools, ByNameAndStable) {
  ChatRequest request;
  request.tools = {{"b", "1", "{}"}, {"a", "2", "{}"}, {"b", "3", "{}"}, {"A", "4", "{}"}};
  EXPECT_TRUE(sort_tools(request));
  std::string order;
  for (const Tool& tool : request.tools) order += tool.name + tool.description;
  EXPECT_EQ(order, "A4a2b1b3");
  EXPECT_FALSE(sort_tools(request)) << "already sorted";
}

}  // namespace
}  // namespace samovar
