// Goal: without a model Samovar serves the one in the box, and no other file in its place.
#include "app/pocket_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

namespace stdfs = std::filesystem;

// A program's folder with a models/ beside it; gone with the object.
class Checkout {
 public:
  Checkout() {
    stdfs::create_directories(root_.at("build"));
    stdfs::create_directories(root_.at("models"));
  }

  [[nodiscard]] std::string program() const { return root_.at("build/samovar"); }
  [[nodiscard]] stdfs::path model() const { return root_.at("models/pocket.gguf"); }
  void take_the_real_one() const {
    stdfs::copy_file(SAMOVAR_SOURCE "/models/pocket.gguf", model());
  }

 private:
  testing::TemporaryFolder root_;
};

TEST(PocketModel, IsFoundBesideTheProgram) {
  const Checkout checkout;
  checkout.take_the_real_one();
  const auto found = pocket_file(checkout.program());
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_TRUE(stdfs::equivalent(*found, checkout.model()));
}

TEST(PocketModel, ThatIsMissingOrChangedIsRefusedWithTheWayOut) {
  const Checkout checkout;
  const auto missing = pocket_file(checkout.program());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().field, "--model");
  EXPECT_NE(missing.error().describe().find(kRealModelLine), std::string::npos);

  checkout.take_the_real_one();
  std::fstream(checkout.model(), std::ios::in | std::ios::out | std::ios::binary)
      .seekp(1'000'000)
      .put('\x5A')
      .put('\xA5');
  const auto changed = pocket_file(checkout.program());
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().describe().find(checkout.model().string()), std::string::npos);
}

TEST(PocketModel, IsTakenOnlyWhereNoModelIsNamed) {
  ServeOptions options;
  EXPECT_TRUE(names_no_model(options));
  options.hf_file = "a.gguf";  // an error of its own: of no repository
  EXPECT_FALSE(names_no_model(options));
}

TEST(PocketModel, BringsItsDefaultsAndLeavesTheUsersAlone) {
  ServeOptions plain;
  ASSERT_TRUE(use_pocket(plain)) << "the test's program lies in a build folder";
  EXPECT_EQ(plain.sampling.temperature, 0.0);
  EXPECT_GT(plain.ctx_size, 8192);

  auto parsed = parse_serve({"--temp", "0.7", "-c", "4096"});
  ASSERT_TRUE(parsed);
  ASSERT_TRUE(use_pocket(parsed->options));
  EXPECT_EQ(parsed->options.sampling.temperature, 0.7);
  EXPECT_EQ(parsed->options.ctx_size, 4096);
}

}  // namespace
}  // namespace samovar::app
