#include "base/size_text.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

TEST(FormatBytes, IsReadable) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(20 << 10), "20.00 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 30), "5.00 GiB");
}

}  // namespace
}  // namespace samovar
