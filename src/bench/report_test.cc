// Goal: every output says what was measured, and the same for the same measurements. Method: a
// known report; texts are compared with golden files, whose changes are to be read.
#include "bench/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "bench/axis.h"
#include "bench/bench_doubles.h"
#include "bench/html_report.h"
#include "bench/step_text.h"
#include "bench/svg.h"
#include "bench/tables.h"

namespace samovar::bench {
namespace {

using test::known_report;

// A file of src/bench/golden/. With SAMOVAR_UPDATE_GOLDEN in the environment it is written instead.
std::string golden(const std::string& name, const std::string& now) {
  const std::string path = std::string(SAMOVAR_SOURCE) + "/src/bench/golden/" + name;
  if (std::getenv("SAMOVAR_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << now;
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Reasons kReasons = {
    {Step::cold, "Calls end where messages begin: `--cut-spacing`.\n\nMore."}};

TEST(Report, RatiosAreOfPairs) {
  const auto sections = summarise(known_report());
  ASSERT_EQ(sections.size(), 4U);
  const Row& cold = sections[0].rows[2];
  EXPECT_NEAR(cold.ratio->median, 1.2, 1e-9);
  EXPECT_EQ(cold.verdict, Verdict::loses);
  EXPECT_EQ(sections[2].step, Step::resident);
  EXPECT_EQ(sections[2].rows[0].verdict, Verdict::better);
  EXPECT_EQ(sections[1].unit, Unit::tokens_per_second);
  EXPECT_EQ(sections[1].rows[0].verdict, Verdict::loses) << "a lower rate";
  EXPECT_FALSE(sections[3].rows[0].ratio) << "one of the two was not measured";
}

TEST(Report, DifferencesOfTwoPercentAreNone) {
  Report report = known_report();
  report.measurements.clear();
  for (int round = 0; round < 3; ++round) {
    report.measurements.push_back(test::sample(Step::resident, 1000, round, "ours", 101, 1));
    report.measurements.push_back(test::sample(Step::resident, 1000, round, "theirs", 100, 1));
  }
  EXPECT_EQ(summarise(report)[0].rows[0].verdict, Verdict::even);
}

// One round says nothing, nor do rounds that disagree.
TEST(Report, AVerdictNeedsRoundsThatAgree) {
  const auto verdict = [](const std::vector<double>& ours) {
    Report report = known_report();
    report.measurements.clear();
    for (int round = 0; round < static_cast<int>(ours.size()); ++round) {
      auto& list = report.measurements;
      list.push_back(test::sample(Step::cold, 1000, round, "ours", ours[round], 1));
      list.push_back(test::sample(Step::cold, 1000, round, "theirs", 100, 1));
    }
    return summarise(report)[0].rows[0].verdict;
  };
  EXPECT_EQ(verdict({150, 150}), Verdict::even);
  EXPECT_EQ(verdict({150, 150, 90}), Verdict::even);
  EXPECT_EQ(verdict({150, 150, 110}), Verdict::loses);
  EXPECT_EQ(verdict({50, 50, 60}), Verdict::better);
}

// A server without files is compared by its restart, unless something came back after it.
TEST(Report, RestartsWithoutFilesHoldForBoth) {
  Report report = known_report();
  for (const std::int64_t reused : {30, 500}) {
    Measurement warm = test::sample(Step::restart_warm, 1000, 0, "theirs", 800, 1);
    warm.reused_tokens = reused;
    report.measurements.push_back(warm);
    const auto sections = summarise(report);
    const Row& row =
        sections.back().step == Step::restart_cold ? sections.back().rows[0] : sections[4].rows[0];
    ASSERT_EQ(row.cells[1].stands_for_both, reused == 30);
    if (reused != 30) continue;
    EXPECT_NEAR(row.ratio.value().median, 0.1, 1e-9);
    EXPECT_NE(text_of(report).find("of which nothing came from files"), std::string::npos);
  }
}

TEST(Report, BytesATokenNeedBothCounts) {
  Report report = known_report();
  Measurement wrote = test::sample(Step::write, 1000, 0, "ours", 10, 1);
  wrote.bytes = 330;
  report.measurements = {wrote};
  EXPECT_EQ(summarise(report)[0].rows[0].cells[0].bytes_per_token, 10);
  report.measurements[0].computed_tokens.reset();
  EXPECT_FALSE(summarise(report)[0].rows[0].cells[0].bytes_per_token);
}

TEST(Report, ReasonsStandOnlyWhereItLoses) {
  const Reasons reasons = {{Step::resident, "It is slow."}};
  EXPECT_EQ(markdown_of(known_report(), reasons, {}).find("It is slow."), std::string::npos);
  EXPECT_EQ(html_of(known_report(), reasons).find("It is slow."), std::string::npos);
}

TEST(Report, JsonIsReadAsItWasWritten) {
  const Report report = known_report();
  const std::string text = to_json(report);
  const auto again = report_of_json(text, "a.json");
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(to_json(*again), text);
  Report small = report;
  small.measurements.resize(6);
  EXPECT_EQ(golden("report.json", to_json(small)), to_json(small));
}

TEST(Report, OtherFilesAreRefused) {
  for (const char* text : {"", "{}", "[1]", R"({"format":2,"targets":[],"measurements":[]})",
                           R"({"format":1,"targets":[],"measurements":[{"step":"dance"}]})"}) {
    const auto report = report_of_json(text, "a.json");
    ASSERT_FALSE(report) << text;
    EXPECT_TRUE(report.error().message.starts_with("a.json "));
  }
}

TEST(Report, CsvHasARowAMeasurement) {
  Report report = known_report();
  report.measurements.resize(4);
  report.measurements[3].missing = "a \"b\", c";
  const std::string text = to_csv(report);
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  EXPECT_EQ(golden("report.csv", text), text);
}

TEST(Report, TablesForTerminalAndMarkdown) {
  const std::string text = text_of(known_report());
  EXPECT_EQ(golden("report.txt", text), text);
  const std::string markdown = markdown_of(known_report(), kReasons, {"report.html"});
  EXPECT_EQ(golden("report.md", markdown), markdown);
}

TEST(Report, NoRateMixesPrefillAndDecode) {
  // The one rate of a cold prompt is that of its computed tokens, the one of a reply its own.
  for (const Section& section : summarise(known_report())) {
    for (const Cell& cell : section.rows[0].cells) {
      EXPECT_EQ(cell.prefill_per_second.has_value(), section.step == Step::cold);
      EXPECT_EQ(cell.server_per_second.has_value(), section.step == Step::decode);
    }
  }
}

TEST(Report, ThePageIsSelfContained) {
  const std::string page = html_of(known_report(), kReasons);
  EXPECT_EQ(golden("report.html", page), page);
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "<script"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(page.find("A &lt;fast&gt; &amp; quiet one"), std::string::npos);
  EXPECT_NE(page.find("<code>--cut-spacing</code>"), std::string::npos);
}

TEST(Report, RunsAreMerged) {
  Report first = known_report();
  Report second = known_report();
  second.conditions[0].second = "2026-01-03 03:04 UTC";
  second.targets[0].facts.flags = {"-c 8192"};
  second.measurements = {test::sample(Step::sessions, 4000, 0, "ours", 10, 1)};
  const Report whole = merged({first, second});
  EXPECT_EQ(whole.targets.size(), 2U);
  EXPECT_EQ(whole.measurements.size(), first.measurements.size() + 1);
  const std::string text = markdown_of(whole, {}, {});
  EXPECT_NE(text.find("| measured (sessions in turn) | 2026-01-03"), std::string::npos);
  EXPECT_NE(text.find("| flags of ours (sessions in turn) | -c 8192 |"), std::string::npos);
}

TEST(Report, StepsHaveNames) {
  for (int i = 0; i < kSteps; ++i) {
    const auto step = static_cast<Step>(i);
    EXPECT_EQ(step_of(to_string(step)), step);
    EXPECT_NE(std::string(step_title(step)), "");
    EXPECT_NE(std::string(step_about(step)), "");
  }
  EXPECT_FALSE(step_of("dance"));
}

TEST(Report, NumbersInWords) {
  EXPECT_EQ(tokens_text(512), "512");
  EXPECT_EQ(tokens_text(30000), "30k");
  EXPECT_EQ(tokens_text(1500), "1.5k");
  EXPECT_EQ(ms_text(0.4534), "0.45 ms");
  EXPECT_EQ(ms_text(36100), "36.1 s");
  EXPECT_EQ(ratio_text(0.0052), "0.005");
  EXPECT_EQ(ratio_text(1.4), "1.40");
}

TEST(Axis, LogarithmicMarksAreOneTwoFive) {
  const Axis axis = Axis::logarithmic(1024, 100024, 0, 100);
  EXPECT_EQ(axis.marks(),
            (std::vector<double>{1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000}));
  EXPECT_NEAR(axis.place(1000), 0, 1e-9);
  EXPECT_NEAR(axis.place(200000), 100, 1e-9);
  const Axis wide = Axis::logarithmic(1, 1e6, 0, 100);
  EXPECT_EQ(wide.marks(), (std::vector<double>{1, 10, 100, 1000, 10000, 100000, 1000000}));
  EXPECT_GE(Axis::logarithmic(50, 50, 0, 1).marks().size(), 2U);
}

TEST(Axis, LinearMarksAreRoundAndBeginAtZero) {
  EXPECT_EQ(Axis::linear(93, 0, 1).marks(), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(Axis::linear(0.7, 0, 1).marks().front(), 0);
  EXPECT_GE(Axis::linear(0, 0, 1).marks().size(), 2U);
  EXPECT_DOUBLE_EQ(Axis::linear(100, 50, 0).place(50), 25) << "upwards";
}

TEST(Svg, TextIsEscapedAndNumbersAreShort) {
  EXPECT_EQ(escape_markup("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
  EXPECT_EQ(svg_number(1.0), "1");
  EXPECT_EQ(svg_number(1.256), "1.26");
  EXPECT_EQ(svg_number(-0.001), "0");
}

}  // namespace
}  // namespace samovar::bench
