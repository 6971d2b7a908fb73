// Goal: an explanation never fails, is never wrong about what is exact, and never makes up a loss.
// Method: random conversations and random changes to them; the naive comparison of tokens and
// texts as the judge.
#include <rapidcheck.h>

#include <algorithm>

#include "explain/explain.h"
#include "explain/explain_testing.h"
#include "explain/text_change.h"

namespace samovar {
namespace {

using testing::Keep;
using testing::message;

std::string some_text() {
  const int words = *rc::gen::inRange(0, 40);
  std::string text;
  for (int i = 0; i < words; ++i) {
    text += *rc::gen::elementOf(std::vector<std::string>{
        "one ", "two ", "2026-11-30 ", "07:12 ", "3daa1d8 ", "é€😀 ", "\n", "{\"a\": 1} ", "<x> ",
        "3f2b8c1e-9a4d-4e5f-8b6a-1c2d3e4f5a6b ", "42 ", "\xFF "});
  }
  return text;
}

ChatMessage some_message() {
  ChatMessage made = message(
      *rc::gen::element(Role::system, Role::developer, Role::user, Role::assistant, Role::tool),
      some_text());
  if (made.role == Role::assistant) {
    if (*rc::gen::arbitrary<bool>()) made.reasoning = some_text();
    if (*rc::gen::arbitrary<bool>()) made.tool_calls.push_back({"id", "name", some_text()});
  }
  return made;
}

ChatRequest some_request() {
  ChatRequest request;
  const int messages = *rc::gen::inRange(0, 12);
  for (int i = 0; i < messages; ++i) request.messages.push_back(some_message());
  const int tools = *rc::gen::inRange(0, 4);
  for (int i = 0; i < tools; ++i) {
    request.tools.push_back({"tool" + std::to_string(*rc::gen::inRange(0, 5)), some_text(), "{}"});
  }
  if (*rc::gen::arbitrary<bool>()) request.template_arguments["a"] = some_text();
  return request;
}

// One of the things that clients do to a conversation.
void change(ChatRequest& request) {
  auto& messages = request.messages;
  const auto place = [&] { return *rc::gen::inRange<std::size_t>(0, messages.size()); };
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      messages.push_back(some_message());
      break;
    case 1:
      if (!messages.empty()) messages[place()] = some_message();
      break;
    case 2:
      if (!messages.empty()) {
        messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(place()));
      }
      break;
    case 3:
      if (!messages.empty()) messages[place()].content += some_text();
      break;
    case 4:
      std::reverse(request.tools.begin(), request.tools.end());
      break;
    case 5:
      if (!request.tools.empty()) request.tools.pop_back();
      break;
    case 6:
      request.template_arguments["a"] = some_text();
      break;
    default:
      if (!messages.empty()) messages[place()].reasoning.clear();
      break;
  }
}

Keep some_keep() { return *rc::gen::element(Keep::all, Keep::tokens, Keep::nothing); }

void check_sane(const Explanation& e, const TurnShape& after) {
  RC_ASSERT(e.tokens_lost >= 0);
  RC_ASSERT(e.tokens_lost <= after.prompt_tokens);
  RC_ASSERT(!e.title.empty());
  if (e.cause == Cause::none) RC_ASSERT(e.tokens_lost <= kSmallLoss);
  if (!e.first) return;
  RC_ASSERT(e.first->token.value_or(0) <= after.prompt_tokens);
  RC_ASSERT(e.first->old_at <= e.first->old_text.size());
  RC_ASSERT(e.first->new_at <= e.first->new_text.size());
}

TEST(ExplainProperty, NeverFailsOnAnyPairOfTurns) {
  EXPECT_TRUE(rc::check([] {
    const ChatRequest old_request = some_request();
    ChatRequest request = *rc::gen::arbitrary<bool>() ? some_request() : old_request;
    const int changes = *rc::gen::inRange(0, 4);
    for (int i = 0; i < changes; ++i) change(request);
    const Keep keep = some_keep();
    TurnShape before = testing::turn(old_request, keep);
    if (*rc::gen::arbitrary<bool>()) testing::reply_to(before, some_message(), keep);
    const TurnShape after = testing::turn(request, some_keep());
    ReuseFacts facts;
    facts.matched = *rc::gen::inRange(0, after.prompt_tokens + 1);
    facts.stored = *rc::gen::inRange(0, after.prompt_tokens + 1);
    facts.store_on = *rc::gen::arbitrary<bool>();
    facts.evicted_memory = *rc::gen::inRange(0, after.prompt_tokens + 1);
    facts.evicted_disk = *rc::gen::inRange(0, after.prompt_tokens + 1);
    facts.restores_failed = *rc::gen::inRange(0, 2);
    Figures figures;
    if (*rc::gen::arbitrary<bool>()) figures.reused = *rc::gen::inRange(0, after.prompt_tokens + 1);
    check_sane(explain(&before, after, facts, figures), after);
    check_sane(explain(&before, guess_shape(request, {}), facts, {}), guess_shape(request, {}));
  }));
}

TEST(ExplainProperty, SameRequestGivesNone) {
  EXPECT_TRUE(rc::check([] {
    const ChatRequest request = some_request();
    const TurnShape before = testing::turn(request, some_keep());
    const TurnShape after = testing::turn(request, some_keep());
    const Explanation e = explain(&before, after, {}, {});
    RC_ASSERT(e.cause == Cause::none);
    RC_ASSERT(e.tokens_lost == 0);
    RC_ASSERT(!e.first.has_value());
  }));
}

TEST(ExplainProperty, FirstDifferenceIsThatOfTheNaiveComparison) {
  EXPECT_TRUE(rc::check([] {
    const ChatRequest old_request = some_request();
    ChatRequest request = old_request;
    change(request);
    change(request);
    const TurnShape before = testing::turn(old_request, Keep::all);
    const TurnShape after = testing::turn(request, Keep::all);
    std::size_t naive = 0;
    const Tokens& a = *before.tokens;
    const Tokens& b = *after.tokens;
    while (naive < a.size() && naive < b.size() && a[naive] == b[naive]) ++naive;
    const Explanation e = explain(&before, after, {}, {.reused = 0});
    if (!e.first || e.cause == Cause::reply_missing) return;
    RC_ASSERT(static_cast<std::size_t>(e.first->token.value_or(-1)) == naive);
    if (e.first->byte) {
      RC_ASSERT(*e.first->byte == common_prefix(*before.rendered, *after.rendered));
    }
  }));
}

}  // namespace
}  // namespace samovar
