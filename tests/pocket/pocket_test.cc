// Goal: the engine computes what Pocket's training code computed, and the committed model is the
// one that the hash beside it names. Method: models/pocket.logits holds a conversation's tokens
// and, after each, the likeliest next tokens with their logits, from the very weights of
// models/pocket.gguf (tools/pocket/export.py writes both). SAMOVAR_POCKET names another folder,
// for a model just made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/hex_text.h"
#include "engine/engine_testing.h"

namespace samovar::testing {
namespace {

struct Expected {
  Token token = 0;
  std::vector<std::pair<Token, float>> next;  // the likeliest first
};

struct Sample {
  float tolerance = 0.0F;
  std::vector<Expected> rows;

  [[nodiscard]] Tokens tokens() const {
    Tokens all;
    for (const Expected& row : rows) all.push_back(row.token);
    return all;
  }
};

std::string folder() {
  const char* other = std::getenv("SAMOVAR_POCKET");
  return other != nullptr ? other : SAMOVAR_SOURCE "/models";
}

Sample read_sample() {
  Sample sample;
  std::ifstream in(folder() + "/pocket.logits");
  std::string word;
  std::string line;
  in >> word >> sample.tolerance;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream numbers(line);
    Expected row;
    numbers >> row.token;
    std::pair<Token, float> next;
    while (numbers >> next.first >> next.second) row.next.push_back(next);
    sample.rows.push_back(row);
  }
  return sample;
}

class PocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string model = folder() + "/pocket.gguf";
    ASSERT_TRUE(std::filesystem::exists(model)) << model << " is not there";
    sample_ = read_sample();
    ASSERT_GT(sample_.rows.size(), 300U);
    engine_ = open_or_fail(small_options(model));
    ASSERT_NE(engine_, nullptr);
  }

  // The largest difference among the row's expected logits, and whether the likeliest token is the
  // same.
  void compare(std::size_t position) {
    const auto logits = engine_->logits(0);
    const Expected& expected = sample_.rows[position];
    for (const auto& [token, logit] : expected.next) {
      const float difference = std::abs(logits[static_cast<std::size_t>(token)] - logit);
      largest_ = std::max(largest_, difference);
    }
    equal_ += most_likely(logits) == expected.next.front().first ? 1 : 0;
    ++compared_;
  }

  void expect_agreement() const {
    EXPECT_LT(largest_, sample_.tolerance);
    EXPECT_GE(100 * equal_, 97 * compared_) << equal_ << " of " << compared_;
    std::printf("largest difference %.4f, same likeliest token %d of %d\n",
                static_cast<double>(largest_), equal_, compared_);
  }

  Sample sample_;
  std::unique_ptr<LlamaEngine> engine_;
  float largest_ = 0.0F;
  int equal_ = 0;
  int compared_ = 0;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(PocketTest, IsTheFileThatTheHashNames) {
  const std::string sums = read_file(folder() + "/SHA256SUMS");
  if (sums.empty()) GTEST_SKIP() << "not released yet: " << folder();
  const std::string model = read_file(folder() + "/pocket.gguf");
  const std::vector<std::uint8_t> bytes(model.begin(), model.end());
  EXPECT_EQ(sums, hex_text(sha256(bytes)) + "  pocket.gguf\n");
  EXPECT_LE(model.size(), 4'000'000U);
}

TEST_F(PocketTest, DecodesAsItWasTrained) {
  const Tokens tokens = sample_.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const TokenSpan one(&tokens[i], 1);
    ASSERT_EQ(engine_->prefill(0, static_cast<Position>(i), one, true), EngineStatus::ok);
    compare(i);
  }
  expect_agreement();
}

TEST_F(PocketTest, ReadsPromptsAsItWasTrained) {
  const Tokens tokens = sample_.tokens();
  for (std::size_t length = 30; length <= tokens.size(); length += 37) {
    ASSERT_EQ(feed(*engine_, 0, TokenSpan(tokens).first(length)), EngineStatus::ok);
    compare(length - 1);
    engine_->drop(0);
  }
  expect_agreement();
}

}  // namespace
}  // namespace samovar::testing
