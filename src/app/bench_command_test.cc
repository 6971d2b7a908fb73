// Goal: the words of `samovar bench` mean what its help says, and wrong ones are refused with the
// option and the remedy.
#include "app/bench_command.h"

#include <gtest/gtest.h>

namespace samovar::app {
namespace {

using Words = std::vector<std::string>;
using bench::Step;

Result<BenchRequest> parse(const Words& words) { return parse_bench(words, {.key = "secret"}); }

BenchRequest good(const Words& words) {
  auto request = parse(words);
  EXPECT_TRUE(request) << request.error().describe();
  return request.value_or(BenchRequest{});
}

void expect_refused(const Words& words, const std::string& flag, const std::string& part) {
  const auto request = parse(words);
  ASSERT_FALSE(request) << part;
  EXPECT_EQ(request.error().field, flag) << request.error().describe();
  EXPECT_NE(request.error().describe().find(part), std::string::npos) << request.error().describe();
  EXPECT_NE(request.error().remedy, "");
}

TEST(BenchOptions, Defaults) {
  const BenchRequest request = good({"prefill", "--against", "localhost:8080/v1"});
  EXPECT_EQ(request.command, "prefill");
  EXPECT_EQ(request.plan.steps, std::vector<Step>{Step::cold});
  EXPECT_EQ(request.plan.depths.front(), 1000);
  EXPECT_EQ(request.plan.depths.back(), 128000);
  ASSERT_EQ(request.against.size(), 1U);
  EXPECT_EQ(request.against[0].url, "http://localhost:8080");
  EXPECT_EQ(request.against[0].name, "localhost:8080");
  EXPECT_EQ(request.against[0].key, "secret");
  EXPECT_FALSE(request.own);
}

TEST(BenchOptions, EveryScenarioHasItsSteps) {
  const Words against = {"--against", "a=http://h:1"};
  const auto steps = [&](const std::string& name) {
    return good({name, against[0], against[1]}).plan.steps;
  };
  EXPECT_EQ(steps("decode"), std::vector<Step>{Step::decode});
  EXPECT_EQ(steps("followup"), (std::vector<Step>{Step::cold, Step::resident, Step::restart_warm,
                                                  Step::restart_cold}));
  EXPECT_EQ(steps("side"), std::vector<Step>{Step::side});
  EXPECT_EQ(steps("edit"), std::vector<Step>{Step::edit});
  EXPECT_EQ(steps("sessions"), std::vector<Step>{Step::sessions});
  EXPECT_EQ(steps("write"), std::vector<Step>{Step::write});
  EXPECT_EQ(steps("all").size(), 8U);
}

TEST(BenchOptions, SeveralServersByName) {
  const BenchRequest request = good({"all",
                                     "--against",
                                     "ours=http://h:1",
                                     "--against",
                                     "theirs=https://h:2/v1",
                                     "--restart-cmd",
                                     "theirs=X=1 restart --it",
                                     "--store-dir",
                                     "ours=/a/b",
                                     "--flags",
                                     "theirs=-t 2",
                                     "--depth",
                                     "30k,6k,512",
                                     "--steps",
                                     "resident,cold",
                                     "--cold-rounds",
                                     "5,1",
                                     "--rounds",
                                     "9",
                                     "--replies",
                                     "fixed",
                                     "--pause",
                                     "0.25",
                                     "--note",
                                     "commit=abc",
                                     "--extra",
                                     R"({"top_k":1})"});
  ASSERT_EQ(request.against.size(), 2U);
  EXPECT_EQ(request.against[1].url, "https://h:2");
  EXPECT_EQ(request.against[1].restart_command, "X=1 restart --it");
  EXPECT_EQ(request.against[0].restart_command, "");
  EXPECT_EQ(request.against[0].store_folder, "/a/b");
  EXPECT_EQ(request.flags, (decltype(request.flags){{"theirs", "-t 2"}}));
  EXPECT_EQ(request.plan.depths, (std::vector<std::int64_t>{512, 6000, 30000}));
  EXPECT_EQ(request.plan.steps, (std::vector<Step>{Step::resident, Step::cold}));
  EXPECT_EQ(request.plan.cold_rounds, (std::vector<int>{5, 1}));
  EXPECT_EQ(request.plan.rounds, 9);
  EXPECT_FALSE(request.plan.own_replies);
  EXPECT_EQ(request.plan.pause, kSecond / 4);
  EXPECT_EQ(request.notes, (bench::Facts{{"commit", "abc"}}));
}

TEST(BenchOptions, WithOneServerNamesAreNotNeeded) {
  const BenchRequest request =
      good({"followup", "--against", "h:1", "--restart-cmd", "A=b restart", "--store-dir", "/s"});
  EXPECT_EQ(request.against[0].restart_command, "A=b restart");
  EXPECT_EQ(request.against[0].store_folder, "/s");
}

TEST(BenchOptions, InThisProcess) {
  const std::string model = std::string(SAMOVAR_MODELS) + "/tiny-qwen35moe.gguf";
  const BenchRequest request = good(
      {"write", "-m", model, "--against", "h:1", "--", "--api-key", "k", "-t", "3", "-c", "4096"});
  ASSERT_TRUE(request.own);
  EXPECT_EQ(request.own->threads, 3);
  EXPECT_EQ(request.own->ctx_size, 4096);
  EXPECT_EQ(request.own_flags,
            (Words{"-m", "tiny-qwen35moe.gguf", "--api-key", "...", "-t", "3", "-c", "4096"}));
}

TEST(BenchOptions, WrongWordsAreRefused) {
  const Words to = {"--against", "h:1"};
  const auto with = [&](Words words) {
    words.insert(words.end(), to.begin(), to.end());
    return words;
  };
  expect_refused({"dance"}, "", "unknown command: dance");
  expect_refused({"prefill"}, "--against", "nothing is named to measure");
  expect_refused(with({"prefill", "--depth", "6x"}), "--depth", "\"6x\" is no length");
  expect_refused(with({"prefill", "--depth", "5"}), "--depth", "at least 128");
  expect_refused(with({"prefill", "--cold-rounds", "0"}), "--cold-rounds", "no count of rounds");
  expect_refused(with({"all", "--steps", "cold,dance"}), "--steps", "\"dance\" is no step");
  expect_refused(with({"followup", "--steps", "edit"}), "--steps", "no step of this command");
  expect_refused(with({"prefill", "--extra", "[1]"}), "--extra", "no JSON object");
  expect_refused(with({"prefill", "--note", "text"}), "--note", "has no name");
  expect_refused(with({"prefill", "--against", "h:1"}), "--against", "two servers are called h:1");
  expect_refused(with({"prefill", "--key-file", "/nowhere"}), "--key-file", "cannot read a key");
  expect_refused(with({"all", "--against", "h:2", "--restart-cmd", "x"}), "--restart-cmd",
                 "does not begin with the name");
  expect_refused(with({"prefill", "--rounds", "-1"}), "", "--rounds");
  expect_refused(with({"prefill", "--", "-t", "2"}), "-m", "no model");
  expect_refused({"prefill", "-m", "/nowhere.gguf"}, "--model", "/nowhere.gguf");
  expect_refused({"report"}, "", "FILE");
}

TEST(BenchOptions, HelpForPeople) {
  EXPECT_NE(good({}).help.find("followup"), std::string::npos);
  const std::string help = good({"followup", "--help"}).help;
  for (const char* flag : {"--against", "--restart-cmd", "--store-dir", "--depth", "--html"}) {
    EXPECT_NE(help.find(flag), std::string::npos) << flag;
  }
}

// A report is given to others: it shows no folders, keys or commands.
TEST(BenchOptions, ShownWordsKeepSecrets) {
  EXPECT_EQ(
      shown_words({"all", "-m", "/home/someone/m.gguf", "--against", "a=http://h:1",
                   "--restart-cmd", "a=ssh host restart", "--key-file", "/k", "--store-dir",
                   "a=/home/someone/store", "--json", "/x/y.json"}),
      "all -m m.gguf --against a=http://h:1 --restart-cmd ... --key-file ... --store-dir store "
      "--json y.json");
  EXPECT_EQ(shown_words({"all", "--restart-cmd=a=ssh host", "--against", "b=http://me:pw@h:1/v1",
                         "--against=http://me@h", "--extra", R"({"user":"me"})", "--json=/x/y.json",
                         "--seed", "3", "--", "--api-key", "SECRET", "--hf-token=SECRET"}),
            "all --restart-cmd=... --against b=http://h:1/v1 --against=http://h --extra ... "
            "--json=y.json --seed 3 -- --api-key ... --hf-token=...");
}

TEST(BenchOptions, ASeedOfItsOwnUnlessOneIsGiven) {
  const Words words = {"prefill", "--against", "h:1"};
  const auto first = good(words).plan.seed;
  EXPECT_TRUE(good(words).plan.seed != first || good(words).plan.seed != first);
  EXPECT_EQ(good({"prefill", "--against", "h:1", "--seed", "7"}).plan.seed, 7U);
}

TEST(BenchOptions, OnlyWhatIsUsedAndOneOutputOnStdout) {
  expect_refused({"prefill", "--against", "h:1", "--rounds", "3"}, "", "--rounds");
  expect_refused({"edit", "--against", "h:1", "--rounds", "3"}, "", "--rounds");
  expect_refused({"edit", "--against", "h:1", "--json", "-", "--csv", "-"}, "--csv",
                 "--json is printed already");
}

}  // namespace
}  // namespace samovar::app
