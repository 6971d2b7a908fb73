// Goal: a line goes to stderr with its level, or nowhere. Method: capture stderr.
#include "base/log.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

TEST(Log, WritesAFormattedLineWithItsLevel) {
  ::testing::internal::CaptureStderr();
  log_info("{} tokens in {}", 5, "cells");
  log_error("gone");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("info"), std::string::npos);
  EXPECT_NE(text.find("5 tokens in cells\n"), std::string::npos);
  EXPECT_NE(text.find("error"), std::string::npos);
}

TEST(Log, KeepsQuietBelowItsLevel) {
  ::testing::internal::CaptureStderr();
  log_debug("not by default");
  log_set_level(LogLevel::off);
  log_error("not when off");
  EXPECT_FALSE(log_enabled(LogLevel::error));
  log_set_level(LogLevel::info);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace samovar
