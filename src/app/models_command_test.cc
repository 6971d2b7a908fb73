// Goal: `samovar models` says what it was told to, asks before it removes, and the environment of
// other hub programs means the same here.
#include "app/models_command.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "app/serve.h"
#include "tests/support/cache_rig.h"
#include "tests/support/fake_hub.h"

namespace samovar::app {
namespace {

using samovar::testing::CacheRig;
using samovar::testing::content;
using samovar::testing::FakeHub;
using Variables = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

Environment environment(Variables variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

hub::HubSettings settings(Variables variables, const std::string& token = "",
                          bool offline = false) {
  variables.emplace("HOME", "/home/u");
  const auto result = hub_settings(environment(std::move(variables)), token, offline);
  EXPECT_TRUE(result);
  return result.value_or(hub::HubSettings{});
}

TEST(HubSettings, CacheFolderIsTheEcosystems) {
  EXPECT_EQ(settings({}).cache, "/home/u/.cache/huggingface/hub");
  EXPECT_EQ(settings({{"XDG_CACHE_HOME", "/c"}}).cache, "/c/huggingface/hub");
  EXPECT_EQ(settings({{"XDG_CACHE_HOME", "/c"}, {"HF_HOME", "/h"}}).cache, "/h/hub");
  EXPECT_EQ(settings({{"HF_HUB_CACHE", "/x"}, {"HF_HOME", "/h"}}).cache, "/x");
  EXPECT_FALSE(hub_settings(environment({}), "", false));
}

TEST(HubSettings, EndpointTokenAndOffline) {
  EXPECT_EQ(settings({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(settings({{"MODEL_ENDPOINT", "https://m/"}}).endpoint, "https://m");
  EXPECT_EQ(settings({{"MODEL_ENDPOINT", "https://m"}, {"HF_ENDPOINT", "https://h"}}).endpoint,
            "https://h");
  EXPECT_EQ(settings({{"HF_TOKEN", "a"}}).token, "a");
  EXPECT_EQ(settings({{"HF_TOKEN", "a"}}, "b").token, "b");
  EXPECT_TRUE(settings({{"HF_HUB_OFFLINE", "1"}}).offline);
  EXPECT_TRUE(settings({{"HF_HUB_OFFLINE", "TRUE"}}).offline);
  EXPECT_FALSE(settings({{"HF_HUB_OFFLINE", "0"}}).offline);
  EXPECT_TRUE(settings({}, "", true).offline);
  const auto bad =
      hub_settings(environment({{"HOME", "/h"}, {"HF_TOKEN", "a\r\nX: y"}}), "", false);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().field, "HF_TOKEN");
}

class ModelsCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    hub_.put("x-Q8_0.gguf", content(5'000, 1));
    rig_.use(hub_);
  }
  ModelsAnswer run(const Words& words, std::optional<bool> agreed = std::nullopt) {
    const auto request = parse_models(
        words, environment({{"HF_HUB_CACHE", rig_.settings.cache}, {"HF_ENDPOINT", hub_.url()}}));
    if (!request) return {kExitUsage, "", request.error().describe()};
    return run_models(*request, {.fs = rig_.disk,
                                 .clock = system_clock(),
                                 .confirm =
                                     [&](const std::string& question) {
                                       question_ = question;
                                       return agreed;
                                     },
                                 .fetch =
                                     [&](const hub::ModelWish& wish, const hub::HubSettings& how) {
                                       return hub::fetch_model(wish, how, rig_.tools());
                                     },
                                 .stopped_code = [] { return 130; }});
  }
  FakeHub hub_;
  CacheRig rig_;
  std::string question_;
};

TEST_F(ModelsCommandTest, PullListsAndRemoveOnlyWhenAgreed) {
  const ModelsAnswer pulled = run({"pull", "test/tiny:q8_0"});
  EXPECT_EQ(pulled.code, 0) << pulled.error;
  EXPECT_NE(pulled.text.find("/snapshots/"), std::string::npos);
  EXPECT_NE(run({}).text.find("test/tiny  Q8_0   4.88 KiB  complete"), std::string::npos)
      << run({}).text;
  EXPECT_NE(run({"rm", "test/tiny"}).error.find("--yes"), std::string::npos);
  EXPECT_EQ(run({"rm", "test/tiny"}, false).code, kExitFailure);
  EXPECT_NE(question_.find("x-Q8_0.gguf"), std::string::npos);
  EXPECT_NE(run({"ls"}).text.find("Q8_0"), std::string::npos) << "nothing was removed";
  EXPECT_EQ(run({"rm", "test/tiny"}, true).code, 0);
  EXPECT_NE(run({}).text.find("no model in"), std::string::npos);
}

TEST_F(ModelsCommandTest, JsonIsWhole) {
  run({"pull", "test/tiny"});
  const auto list = nlohmann::json::parse(run({"--json"}).text);
  EXPECT_EQ(list["folder"], rig_.settings.cache);
  EXPECT_EQ(list["models"][0]["bytes"], 5'000);
  EXPECT_EQ(list["models"][0]["current"], true);
  const auto removed = nlohmann::json::parse(run({"rm", "test/tiny", "--yes", "--json"}).text);
  EXPECT_EQ(removed["bytes"], 5'000);
  EXPECT_EQ(removed["removed"], nlohmann::json({"x-Q8_0.gguf"}));
}

TEST_F(ModelsCommandTest, MistakesAreTold) {
  EXPECT_EQ(run({"frob"}).code, kExitUsage);
  EXPECT_NE(run({"rm"}).error.find("NAME"), std::string::npos);
  EXPECT_NE(run({"rm", "nothing"}).error.find("OWNER/NAME"), std::string::npos);
  EXPECT_NE(run({"rm", "test/other"}).error.find("nothing of test/other"), std::string::npos);
  run({"pull", "test/tiny"});
  EXPECT_NE(run({"rm", "test/tiny:Q2_K", "--yes"}).error.find("has no Q2_K"), std::string::npos);
  EXPECT_EQ(run({"pull", "test/tiny:Q2_K"}).code, kExitFailure);
}

TEST_F(ModelsCommandTest, StoppedPullHasTheSignalsCode) {
  rig_.stopped = true;
  EXPECT_EQ(run({"pull", "test/tiny"}).code, 130);
}

}  // namespace
}  // namespace samovar::app
