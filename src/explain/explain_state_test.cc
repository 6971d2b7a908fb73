// Goal: the classes that the server decides: template, options, model, and state that was not there
// although the text is the same (explain_test.cc).
#include "explain/explain.h"

#include "explain/explain_pairs.h"

namespace samovar {
namespace {

using namespace testing;

// --- what the server decides ---

TEST(Explain, TemplateOptionChanged) {
  const Pair pair;
  for (const Keep keep : kAll) {
    ChatRequest changed = pair.after;
    changed.template_arguments["reasoning_effort"] = "\"high\"";
    const TurnShape before = before_of(pair, keep);
    const TurnShape after = turn(changed, keep, {.suffix = "Reasoning: high"});
    Figures figures;
    figures.reused = keep == Keep::nothing ? 500 : shared(before, after);
    const ReuseFacts facts{.matched = *figures.reused};
    const Explanation e = explain(&before, after, facts, figures);
    EXPECT_STREQ(to_string(e.cause), "template_or_option_changed");
    EXPECT_EQ(e.first->field, "reasoning_effort");
    if (keep == Keep::all) {
      EXPECT_EQ(e.first->new_text, "\"high\"");
    }
  }
}

TEST(Explain, TemplateThatShowsTheSameMessagesDifferently) {
  const Pair pair;
  for (const Keep keep : {Keep::all, Keep::tokens}) {
    const TurnShape before = before_of(pair, keep);
    const TurnShape after = turn(pair.after, keep, {.suffix = "Made on Monday."});
    const Figures figures{.reused = shared(before, after)};
    const Explanation e = explain(&before, after, {}, figures);
    EXPECT_STREQ(to_string(e.cause), "template_or_option_changed");
    EXPECT_EQ(e.first->field, "template");
    if (keep == Keep::all) {
      EXPECT_NE(e.first->new_text.find("Made on Monday"), std::string::npos);
    }
  }
}

TEST(Explain, AnotherModel) {
  for (const Keep keep : kAll) {
    const TurnShape before = before_of({}, keep);
    TurnShape after = turn(Pair().after, keep);
    after.model = "another";
    const Explanation e = explain(&before, after, {}, {.reused = 0});
    EXPECT_STREQ(to_string(e.cause), "model_changed");
    EXPECT_GT(e.tokens_lost, 1000);
  }
}

// --- the same text, but no state ---

Explanation without_state(Keep keep, Position reused, const ReuseFacts& facts,
                          bool same_run = true) {
  const TurnShape before = before_of({}, keep);
  const TurnShape after = turn(Pair().after, keep);
  return explain(&before, after, facts, {.reused = reused, .same_run = same_run});
}

TEST(Explain, EvictedFromMemoryWithoutAStore) {
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 0, {.evicted_memory = 1000});
    EXPECT_STREQ(to_string(e.cause), "evicted");
    EXPECT_GT(e.tokens_lost, 900);
    EXPECT_FALSE(e.first.has_value()) << "nothing differs";
    EXPECT_NE(e.detail.find("1,000 tokens had left memory"), std::string::npos) << e.detail;
    EXPECT_NE(e.remedy.find("--store"), std::string::npos);
  }
}

TEST(Explain, EvictedFromMemoryBeforeItWasOnDisk) {
  const ReuseFacts facts{.stored = 10, .store_on = true, .evicted_memory = 1000};
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 10, facts);
    EXPECT_STREQ(to_string(e.cause), "evicted");
    EXPECT_NE(e.title.find("was not on disk"), std::string::npos);
    EXPECT_NE(e.remedy.find("--store-writes-per-day"), std::string::npos);
  }
}

TEST(Explain, EvictedFromTheDisk) {
  const ReuseFacts facts{.store_on = true, .evicted_memory = 900, .evicted_disk = 1000};
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 0, facts);
    EXPECT_STREQ(to_string(e.cause), "evicted");
    EXPECT_NE(e.title.find("evicted from the disk"), std::string::npos);
    EXPECT_NE(e.remedy.find("--store-size"), std::string::npos);
  }
}

TEST(Explain, WhatWasEvictedIsToBlameOnlyIfItWouldHaveSparedMuch) {
  const auto cause = [](Position reused, Position evicted) {
    return std::string(to_string(
        without_state(Keep::tokens, reused, {.store_on = true, .evicted_disk = evicted}).cause));
  };
  const Position all = turn(Pair().after, Keep::tokens).history_end;
  ASSERT_GT(all, 900);
  EXPECT_EQ(cause(0, all), "evicted");
  EXPECT_EQ(cause(0, 100), "never_stored");
  EXPECT_EQ(cause(500, 500), "never_stored") << "it is what was reused";
  EXPECT_EQ(cause(500, all), "evicted");
}

TEST(Explain, NeverStored) {
  for (const Keep keep : kAll) {
    EXPECT_STREQ(to_string(without_state(keep, 0, {.store_on = true}).cause), "never_stored");
    const ReuseFacts part{.stored = 300, .store_on = true};
    EXPECT_STREQ(to_string(without_state(keep, 300, part).cause), "never_stored");
    const Explanation off = without_state(keep, 0, {}, false);
    EXPECT_STREQ(to_string(off.cause), "never_stored");
    EXPECT_EQ(off.title, "The server had been restarted");
    EXPECT_NE(off.remedy.find("--store"), std::string::npos);
    EXPECT_EQ(without_state(keep, 0, {}).title, "The conversation was not in memory");
  }
}

TEST(Explain, RestoreFailed) {
  const ReuseFacts facts{
      .store_on = true, .restores_failed = 1, .restore_problem = "a checksum does not match"};
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 0, facts);
    EXPECT_STREQ(to_string(e.cause), "restore_failed");
    EXPECT_NE(e.detail.find("a checksum does not match"), std::string::npos);
  }
}

TEST(Explain, ResumedFromAnEarlierPoint) {
  for (const Keep keep : kAll) {
    const TurnShape after = turn(Pair().after, keep);
    const ReuseFacts facts{.matched = after.history_end - 40, .store_on = true};
    const Explanation e = without_state(keep, 400, facts);
    EXPECT_STREQ(to_string(e.cause), "partly_reused_granularity");
  }
}

}  // namespace
}  // namespace samovar
