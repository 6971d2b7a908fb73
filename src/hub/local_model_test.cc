// Goal: a path to any part of a split model works or says what is missing.
#include "hub/local_model.h"

#include <gtest/gtest.h>

#include "tests/support/cache_rig.h"

namespace samovar::hub {
namespace {

class LocalModelTest : public ::testing::Test {
 protected:
  std::string error(const std::string& name) {
    const auto path = local_model(rig_.disk, rig_.at(name));
    EXPECT_FALSE(path);
    return path ? "" : path.error().describe();
  }
  samovar::testing::CacheRig rig_;
};

TEST_F(LocalModelTest, AnyPartStandsForAll) {
  for (int part = 1; part <= 3; ++part) {
    rig_.write("x-0000" + std::to_string(part) + "-of-00003.gguf", "part");
  }
  rig_.write("whole.gguf", "whole");
  for (int part = 1; part <= 3; ++part) {
    EXPECT_EQ(*local_model(rig_.disk, rig_.at("x-0000" + std::to_string(part) + "-of-00003.gguf")),
              rig_.at("x-00001-of-00003.gguf"));
  }
  EXPECT_EQ(*local_model(rig_.disk, rig_.at("whole.gguf")), rig_.at("whole.gguf"));
}

TEST_F(LocalModelTest, MissingPartsAreNamed) {
  rig_.write("x-00002-of-00003.gguf", "part");
  const std::string text = error("x-00002-of-00003.gguf");
  EXPECT_NE(text.find("2 of them missing"), std::string::npos) << text;
  EXPECT_NE(text.find(rig_.at("x-00001-of-00003.gguf")), std::string::npos) << text;
  EXPECT_NE(text.find(rig_.at("x-00003-of-00003.gguf")), std::string::npos) << text;
  EXPECT_NE(text.find("--model"), std::string::npos) << text;
}

TEST_F(LocalModelTest, FolderSaysWhatItHolds) {
  rig_.write("m/x-00001-of-00002.gguf", "");
  rig_.write("m/x-00002-of-00002.gguf", "");
  rig_.write("m/y.gguf", "");
  rig_.write("m/mmproj-y.gguf", "");
  const std::string text = error("m");
  EXPECT_NE(text.find("Name one of its files: x-00001-of-00002.gguf, y.gguf"), std::string::npos)
      << text;
  EXPECT_NE(error("none.gguf").find("cannot read"), std::string::npos);
}

}  // namespace
}  // namespace samovar::hub
