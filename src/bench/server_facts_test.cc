// Goal: what a server is, from its own words; no folder of its owner in it.
#include "bench/server_facts.h"

#include <gtest/gtest.h>

namespace samovar::bench {
namespace {

TEST(ServerFacts, OfSamovar) {
  const TargetFacts facts = read_facts(
      R"({"data":[{"id":"tiny","owned_by":"samovar","meta":{"architecture":"qwen35moe",
          "parameters":5000,"n_ctx":8192,"n_ctx_train":262144}}]})",
      "");
  EXPECT_EQ(facts.server, "samovar");
  EXPECT_EQ(facts.model, "tiny");
  EXPECT_EQ(facts.architecture, "qwen35moe");
  EXPECT_EQ(facts.parameters, 5000U);
  EXPECT_EQ(facts.context, 8192);
}

TEST(ServerFacts, OfLlamaServer) {
  const TargetFacts facts = read_facts(
      R"({"data":[{"id":"/home/someone/tiny.gguf","owned_by":"llamacpp",
          "meta":{"n_params":5000,"size":11863648,"n_ctx_train":262144}}]})",
      R"({"build_info":"b1-abc","model_path":"/home/someone/tiny.gguf",
          "default_generation_settings":{"n_ctx":4096}})");
  EXPECT_EQ(facts.server, "llama-server b1-abc");
  EXPECT_EQ(facts.model, "tiny.gguf");
  EXPECT_EQ(facts.model_bytes, 11863648U);
  EXPECT_EQ(facts.context, 4096);
}

TEST(ServerFacts, OfSilentOnesNothing) {
  for (const char* text : {"", "no json", "[]", R"({"data":[]})", R"({"data":[{"id":7}]})"}) {
    const TargetFacts facts = read_facts(text, text);
    EXPECT_EQ(facts.model, "");
    EXPECT_FALSE(facts.context);
  }
}

}  // namespace
}  // namespace samovar::bench
