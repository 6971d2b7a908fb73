// Goal: removing a model frees its bytes and nothing that something else leads to.
#include "hub/remove_models.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/cache_rig.h"
#include "tests/support/fake_hub.h"

namespace samovar::hub {
namespace {

using samovar::testing::CacheRig;
using samovar::testing::content;
using samovar::testing::FakeHub;
using samovar::testing::hash_of;

class RemoveModelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    hub_.put("x-Q8_0.gguf", content(5'000, 1));
    hub_.put("x-Q4_K_M.gguf", content(3'000, 2));
    rig_.use(hub_);
    rig_.fetched("test/tiny:Q8_0");
    rig_.fetched("test/tiny:Q4_K_M");
  }
  [[nodiscard]] CacheLayout layout() const { return {rig_.settings.cache, "test/tiny"}; }
  CachedRepo scan() { return scan_repo(rig_.disk, layout()); }
  Removal plan(const std::string& quant) { return plan_removal(scan(), layout(), quant); }
  Status remove(const Removal& removal) {
    return remove_models(rig_.disk, layout(), removal, "test");
  }
  [[nodiscard]] bool has_blob(const std::string& text) const {
    return rig_.exists("models--test--tiny/blobs/" + hash_of(text));
  }
  [[nodiscard]] std::vector<std::string> quants() {
    std::vector<std::string> all;
    for (const CachedModel& model : models_of(scan(), layout())) {
      all.push_back(model.quant + (model.complete ? "" : " partial"));
    }
    return all;
  }

  FakeHub hub_;
  CacheRig rig_;
};

using Words = std::vector<std::string>;

TEST_F(RemoveModelsTest, OneOfTwo) {
  const Removal removal = plan("q8_0");
  EXPECT_EQ(removal.bytes, 5'000U);
  EXPECT_EQ(removal.models, Words{"x-Q8_0.gguf"});
  ASSERT_TRUE(remove(removal));
  EXPECT_FALSE(has_blob(content(5'000, 1)));
  EXPECT_TRUE(has_blob(content(3'000, 2)));
  EXPECT_EQ(quants(), Words{"Q4_K_M"});
  rig_.settings.offline = true;
  rig_.fetched("test/tiny");
}

TEST_F(RemoveModelsTest, LastOneTakesTheRepositoryAlong) {
  ASSERT_TRUE(remove(plan("")));
  EXPECT_FALSE(rig_.exists("models--test--tiny"));
}

TEST_F(RemoveModelsTest, ContentThatAnotherFileLinksStays) {
  const std::string commit = hub_.commit();
  std::filesystem::create_symlink("../../blobs/" + hash_of(content(5'000, 1)),
                                  rig_.at("models--test--tiny/snapshots/" + commit + "/model.bin"));
  const Removal removal = plan("");
  EXPECT_EQ(removal.bytes, 3'000U);
  EXPECT_EQ(removal.kept, 5'000U);
  ASSERT_TRUE(remove(removal));
  EXPECT_TRUE(has_blob(content(5'000, 1)));
  EXPECT_TRUE(rig_.exists("models--test--tiny/snapshots/" + commit + "/model.bin"));
}

TEST_F(RemoveModelsTest, EveryRevisionOfTheModelGoes) {
  hub_.put("x-Q8_0.gguf", content(6'000, 3));  // a new commit; Q4_K_M is the same in both
  rig_.fetched("test/tiny:Q8_0");
  EXPECT_EQ(quants(), (Words{"Q8_0", "Q4_K_M", "Q8_0"}));
  const Removal removal = plan("Q8_0");
  EXPECT_EQ(removal.bytes, 11'000U);
  ASSERT_TRUE(remove(removal));
  EXPECT_EQ(quants(), Words{"Q4_K_M"});
}

TEST_F(RemoveModelsTest, HalfDownloadedOnesAreListedAndRemoved) {
  hub_.put("y-Q2_K.gguf", content(9'000, 4));
  hub_.fail_content({.drop_after = 4'000});
  rig_.settings.tries = 1;
  rig_.refused("test/tiny:Q2_K");
  EXPECT_EQ(quants(), (Words{"Q4_K_M", "Q8_0", "Q2_K partial"}));
  const auto models = models_of(scan(), layout());
  EXPECT_EQ(models.back().bytes, 4'000U);
  EXPECT_EQ(models.back().total, 9'000U);
  ASSERT_TRUE(remove(plan("Q2_K")));
  EXPECT_EQ(quants(), (Words{"Q4_K_M", "Q8_0"}));
  EXPECT_FALSE(
      rig_.exists("models--test--tiny/blobs/" + hash_of(content(9'000, 4)) + ".incomplete.about"));
}

TEST_F(RemoveModelsTest, SplitModelWithoutAllPartsIsPartial) {
  hub_.put("s-Q6_K-00001-of-00002.gguf", content(2'000, 5));
  hub_.put("s-Q6_K-00002-of-00002.gguf", content(2'000, 6));
  hub_.fail_content({});
  hub_.fail_content({.drop_after = 500});
  rig_.settings.tries = 1;
  rig_.refused("test/tiny:Q6_K");
  const auto models = models_of(scan(), layout());
  const auto found = std::ranges::find(models, "Q6_K", &CachedModel::quant);
  ASSERT_NE(found, models.end());
  EXPECT_FALSE(found->complete);
  EXPECT_EQ(found->missing, Words{"s-Q6_K-00002-of-00002.gguf"});
  EXPECT_EQ(found->bytes, 2'500U);
}

TEST_F(RemoveModelsTest, DownloadInProgressIsNotDisturbed) {
  const auto lock = rig_.disk.lock(layout().lock(hash_of(content(5'000, 1))), "process 7");
  ASSERT_TRUE(lock);
  const auto status = remove(plan("Q8_0"));
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("process 7"), std::string::npos);
  EXPECT_TRUE(has_blob(content(5'000, 1)));
}

}  // namespace
}  // namespace samovar::hub
