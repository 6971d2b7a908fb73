#include "base/process_memory.h"

#include <algorithm>

namespace samovar {
namespace {

TEST(ProcessMemory, GrowsWithWhatIsTouched) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::uint64_t before = resident_bytes();
  ASSERT_GT(before, 0U);
  std::vector<char> block(kBytes);
  std::ranges::fill(block, 'x');
  EXPECT_GT(resident_bytes(), before + kBytes / 2);
  EXPECT_EQ(block.back(), 'x');
}

}  // namespace
}  // namespace samovar
