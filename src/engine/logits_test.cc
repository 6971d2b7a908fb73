// Goal: the arithmetic over logits is exact and notices garbage. Method: small rows with known
// answers.
#include "engine/logits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace samovar {
namespace {

TEST(MostLikely, IsTheLowestIdAmongTheLargest) {
  std::vector<float> row(1000, -1.0F);
  row[977] = 2.0F;
  row[401] = 2.0F;
  EXPECT_EQ(most_likely(row), 401);
  row[999] = 3.0F;
  EXPECT_EQ(most_likely(row), 999);
  row[0] = 4.0F;
  EXPECT_EQ(most_likely(row), 0);
  EXPECT_EQ(most_likely(std::vector<float>{-5.0F}), 0);
}

TEST(MostLikely, NoticesOneNanAnywhere) {
  for (const std::size_t place : {0U, 15U, 16U, 500U, 991U, 999U}) {
    std::vector<float> row(1000, 1.0F);
    row[place] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(most_likely(row), kBrokenToken) << place;
  }
}

TEST(MostLikely, NoticesInfinity) {
  std::vector<float> row(100, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(most_likely(row), kBrokenToken);
  row[3] = 1.0F;  // others at -inf are legitimate
  EXPECT_EQ(most_likely(row), 3);
  row[4] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(most_likely(row), kBrokenToken);
}

TEST(Logprobs, AreASoftmaxAndOrdered) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.0F, 4.0F);
  std::vector<float> row(5000);
  for (float& x : row) {
    x = normal(random);
  }
  Sampled all{.token = 17, .logprob = 0.0F, .top = {}};
  fill_logprobs(row, 5000, all);
  ASSERT_EQ(all.top.size(), 5000U);
  double sum = 0.0;
  for (std::size_t i = 0; i < all.top.size(); ++i) {
    sum += std::exp(static_cast<double>(all.top[i].logprob));
    if (i > 0) {
      EXPECT_LE(all.top[i].logprob, all.top[i - 1].logprob);
    }
    if (all.top[i].token == 17) {
      EXPECT_FLOAT_EQ(all.top[i].logprob, all.logprob);
    }
  }
  EXPECT_NEAR(sum, 1.0, 1e-4);
  EXPECT_EQ(all.top[0].token, most_likely(row));

  Sampled chosen{.token = 17, .logprob = 0.0F, .top = {}};
  fill_logprobs(row, 0, chosen);
  EXPECT_TRUE(chosen.top.empty());
  EXPECT_FLOAT_EQ(chosen.logprob, all.logprob);
}

}  // namespace
}  // namespace samovar
