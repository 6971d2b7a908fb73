// Goal: the file that a user means is chosen, all its parts, and nothing else; what cannot be found
// is told with what there is.
#include "hub/file_choice.h"

#include <gtest/gtest.h>

namespace samovar::hub {
namespace {

std::vector<RepoFile> files(const std::vector<std::string>& paths) {
  std::vector<RepoFile> all;
  for (const std::string& path : paths) all.push_back({.path = path, .blob = path, .bytes = 1});
  return all;
}

std::vector<std::string> chosen(const std::vector<std::string>& paths, const std::string& quant,
                                const std::string& file = "") {
  const auto result = choose_files(files(paths), {"a/b", quant}, file, "a/b has");
  if (!result) return {"error: " + result.error().describe()};
  std::vector<std::string> names;
  for (const RepoFile& each : *result) names.push_back(each.path);
  return names;
}

using Names = std::vector<std::string>;

TEST(FileChoice, QuantThenDefaultsThenTheFirst) {
  const Names all = {"x-Q8_0.gguf", "mmproj-Q4_K_M.gguf", "x-Q4_K_M.gguf", "x-IQ2_M.gguf", "r.md"};
  EXPECT_EQ(chosen(all, "iq2_m"), Names{"x-IQ2_M.gguf"});
  EXPECT_EQ(chosen(all, ""), Names{"x-Q4_K_M.gguf"});
  EXPECT_EQ(chosen({"x-Q8_0.gguf", "mmproj-Q4_K_M.gguf", "x-F16.gguf"}, ""), Names{"x-Q8_0.gguf"});
  EXPECT_EQ(chosen({"x-Q6_K.gguf", "x-Q3_K.gguf", "mmproj.gguf"}, ""), Names{"x-Q3_K.gguf"});
}

TEST(FileChoice, PlainQuantGoesBeforeTheDynamicOne) {
  EXPECT_EQ(chosen({"x-UD-Q4_K_M.gguf", "y-Q4_K_M.gguf"}, "Q4_K_M"), Names{"y-Q4_K_M.gguf"});
  EXPECT_EQ(chosen({"x-UD-Q4_K_M.gguf"}, "Q4_K_M"), Names{"x-UD-Q4_K_M.gguf"});
  EXPECT_EQ(chosen({"x-UD-Q4_K_M.gguf", "y-Q4_K_M.gguf"}, "ud-q4_k_m"), Names{"x-UD-Q4_K_M.gguf"});
}

TEST(FileChoice, AllPartsInTheirOrder) {
  const Names parts = {"q/x-Q8_0-00003-of-00003.gguf", "q/x-Q8_0-00001-of-00003.gguf",
                       "q/x-Q8_0-00002-of-00003.gguf"};
  const Names sorted = {parts[1], parts[2], parts[0]};
  EXPECT_EQ(chosen(parts, "Q8_0"), sorted);
  EXPECT_EQ(chosen(parts, ""), sorted);
  EXPECT_EQ(chosen(parts, "", "x-Q8_0-00002-of-00003.gguf"), sorted);
}

TEST(FileChoice, MissingPartsAreNamed) {
  const Names result = chosen({"x-Q8_0-00002-of-00003.gguf"}, "Q8_0");
  EXPECT_NE(result[0].find("x-Q8_0-00001-of-00003.gguf, x-Q8_0-00003-of-00003.gguf missing"),
            std::string::npos)
      << result[0];
}

TEST(FileChoice, WhatIsNotThereIsToldWithWhatIs) {
  const Names all = {"x-Q8_0.gguf", "x-Q4_0.gguf", "plain.gguf", "mmproj-F16.gguf"};
  EXPECT_EQ(chosen(all, "Q9"), Names{"error: a/b has no Q9. There is plain, Q4_0 or Q8_0"});
  EXPECT_NE(chosen(all, "", "no.gguf")[0].find("--hf-file"), std::string::npos);
  EXPECT_NE(chosen({"model.safetensors"}, "")[0].find("a/b has no GGUF model"), std::string::npos);
}

}  // namespace
}  // namespace samovar::hub
