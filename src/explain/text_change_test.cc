// Goal: what people put into prompts and what changes there is told apart by its form. Method: a
// table of pairs as they occur, and what each is; random pairs for the excerpts.
#include "explain/text_change.h"

#include <rapidcheck.h>

#include <algorithm>

namespace samovar {
namespace {

struct Row {
  const char* before;
  const char* after;
  TextChange change;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(classify_change(row.before, row.after), row.change)
        << row.before << "  ->  " << row.after;
    EXPECT_EQ(classify_change(row.after, row.before), row.change)
        << row.after << "  ->  " << row.before;
  }
}

TEST(TextChange, UniqueIdsAreKnownByTheirForm) {
  expect_rows({
      {"Session 3f2b8c1e-9a4d-4e5f-8b6a-1c2d3e4f5a6b.",
       "Session 0f2b8c1e-9a4d-4e5f-8b6a-1c2d3e4f5a6c.", TextChange::unique_id},
      {"id: 01HV9X4N3D7YQ8ZK5WJ2M6T0BR", "id: 01HV9X5P8E2RZ4QM7XK3N9V1CS", TextChange::unique_id},
      {"request V1StGXR8_Z5jdHi6B-myT now", "request IRFa-VaY2bQd8Kp1_zXeN now",
       TextChange::unique_id},
      {"\"tool_use_id\": \"toolu_01A9xq2kzPb7RtYv\"", "\"tool_use_id\": \"toolu_01B4mw8ncQd3SuWz\"",
       TextChange::unique_id},
      {"trace=4bf92f3577b34da6a3ce929d0e0e4736", "trace=00f067aa0ba902b7a3ce929d0e0e4799",
       TextChange::unique_id},
      {"run 9f86d081884c7d65", "run 1b4f0e9851971998", TextChange::unique_id},
  });
}

TEST(TextChange, TimesAndDatesAreKnownByTheirForm) {
  expect_rows({
      {"Today's date: 2026-11-29", "Today's date: 2026-11-30", TextChange::time_or_date},
      {"now 2026-11-30T07:12:57Z.", "now 2026-11-30T07:13:04Z.", TextChange::time_or_date},
      {"It is 07:12 in Berlin", "It is 07:13 in Berlin", TextChange::time_or_date},
      {"at 7:12PM", "at 8:05PM", TextChange::time_or_date},
      {"Monday, 30 November 2026", "Tuesday, 1 December 2026", TextChange::time_or_date},
      {"30 November 2026", "29 November 2026", TextChange::time_or_date},
      {"Nov 29, 2026", "Nov 30, 2026", TextChange::time_or_date},
      {"30.11.2026", "01.12.2026", TextChange::time_or_date},
      {"11/29/26", "11/30/26", TextChange::time_or_date},
      {"started 1796022777", "started 1796022790", TextChange::time_or_date},
      {"ts=1796022777123", "ts=1796022790456", TextChange::time_or_date},
      {"log-20261129", "log-20261130", TextChange::counter_or_hash},
      {"log 20261129", "log 20261130", TextChange::time_or_date},
  });
}

TEST(TextChange, CountersAndHashes) {
  expect_rows({
      {"You have used 1,204 of 8,000 tokens", "You have used 1,377 of 8,000 tokens",
       TextChange::counter_or_hash},
      {"uptime 12.5s", "uptime 13.1s", TextChange::counter_or_hash},
      {"3 files changed", "14 files changed", TextChange::counter_or_hash},
      {"HEAD is at 3daa1d8", "HEAD is at f000bcd", TextChange::counter_or_hash},
      {"cc_entrypoint=cli; cch=a5145;", "cc_entrypoint=cli; cch=0c8b4;",
       TextChange::counter_or_hash},
      {"commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
       "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", TextChange::counter_or_hash},
      {"version 2.1.100", "version 2.1.101", TextChange::counter_or_hash},
      {"version 2.1.101.a51;", "version 2.1.101.0c8;", TextChange::counter_or_hash},
  });
}

TEST(TextChange, EverythingElseIsAnEdit) {
  expect_rows({
      {"You are a helpful assistant.", "You are a terse assistant.", TextChange::edited},
      {"Be kind.", "Be kind. Answer in French.", TextChange::edited},
      {"", "word", TextChange::edited},
      {"item 42", "item 42 and <b>more</b>", TextChange::edited},
      {"facade", "decade", TextChange::edited},
      {"branch main", "branch 12", TextChange::edited},
      {"you may go", "you can go", TextChange::edited},
  });
  EXPECT_EQ(classify_change("same", "same"), TextChange::none);
}

TEST(TextChange, WhiteSpaceAlone) {
  expect_rows({
      {"one two", "one  two", TextChange::whitespace},
      {"one two\n", "one two", TextChange::whitespace},
      {"a\r\nb", "a\nb", TextChange::whitespace},
      {"  x", "x", TextChange::whitespace},
  });
}

TEST(TextChange, TheFirstOfSeveralChangesDecides) {
  EXPECT_EQ(classify_change("id 01HV9X4N3D7YQ8ZK5WJ2M6T0BR at 07:12",
                            "id 01HV9X5P8E2RZ4QM7XK3N9V1CS at 07:13"),
            TextChange::unique_id);
}

TEST(Excerpts, ShowBothSidesOfTheDifferenceAndCutWholeCharacters) {
  const std::string left(300, 'l');
  const Excerpts cut = excerpts(left + "naïve ärger " + left, left + "naïve übel " + left);
  EXPECT_TRUE(cut.old_text.starts_with("…")) << cut.old_text;
  EXPECT_TRUE(cut.old_text.ends_with("…")) << cut.old_text;
  EXPECT_TRUE(cut.old_text.substr(cut.old_at).starts_with("ärger")) << cut.old_text;
  EXPECT_TRUE(cut.new_text.substr(cut.new_at).starts_with("übel")) << cut.new_text;
  const Excerpts whole = excerpts("a b", "a c");
  EXPECT_EQ(whole.old_text, "a b");
  EXPECT_EQ(whole.new_at, 2U);
}

bool inside_character(const std::string& text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

TEST(Excerpts, AnyBytesGiveShortExcerptsWithTheDifferenceInside) {
  EXPECT_TRUE(rc::check([](std::string shared, std::string a, std::string b) {
    const Excerpts cut = excerpts(shared + a, shared + b);
    RC_ASSERT(cut.old_at <= cut.old_text.size());
    RC_ASSERT(cut.new_at <= cut.new_text.size());
    (void)classify_change(shared + a, shared + b);
  }));
  EXPECT_TRUE(rc::check([](std::vector<std::uint8_t> shared, std::vector<std::uint8_t> tail) {
    const auto utf8 = [](const std::vector<std::uint8_t>& bytes) {
      std::string text;
      for (const std::uint8_t byte : bytes) {
        constexpr const char* kCharacters[] = {"a", "é", "€", "😀"};
        text += kCharacters[byte % 4];
      }
      return text;
    };
    const std::string a = utf8(shared) + utf8(tail);
    const std::string b = utf8(shared) + "ö";
    const Excerpts cut = excerpts(a, b);
    RC_ASSERT(!inside_character(cut.old_text, cut.old_at));
    RC_ASSERT(!inside_character(cut.new_text, cut.new_at));
    RC_ASSERT(!inside_character(cut.old_text, 0));
  }));
}

}  // namespace
}  // namespace samovar
