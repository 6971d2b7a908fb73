// Goal: progress is shown as often as people can use it, with a rate that is the last seconds'.
#include "base/progress_text.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(ProgressText, BarHasRateAndTimeLeft) {
  ProgressText text(true, download_progress());
  std::optional<std::string> last;
  for (int i = 0; i <= 50; ++i) {  // 10 MiB a second, after 500 MiB that were there
    const auto now =
        text.next({"x.gguf", (500 + static_cast<std::uint64_t>(i)) * kMiB, 1000 * kMiB},
                  i * kSecond / 10, 120);
    if (now) last = now;
  }
  ASSERT_TRUE(last);
  EXPECT_EQ(*last,
            "x.gguf  [################..............]   55%  550.00 MiB of 1000.00 MiB  "
            "10.00 MiB/s  0:45 left");
}

TEST(ProgressText, BarFitsIntoTheLine) {
  for (int columns = 0; columns < 120; ++columns) {
    ProgressText text(true, download_progress());
    const auto bar = text.next({"a-long-name-of-a-model.gguf", kMiB, 3 * kMiB}, 0, columns);
    ASSERT_TRUE(bar);
    EXPECT_LE(static_cast<int>(bar->size()), std::max(columns - 1, 0));
  }
}

TEST(ProgressText, WithoutTerminalALineEveryTenSeconds) {
  ProgressText text(false, download_progress());
  int lines = 0;
  for (int i = 0; i < 600; ++i) {  // a minute
    lines += text.next({"x.gguf", static_cast<std::uint64_t>(i) * kMiB, 600 * kMiB},
                       i * kSecond / 10, 80)
                     .has_value()
                 ? 1
                 : 0;
  }
  EXPECT_EQ(lines, 6);
  EXPECT_TRUE(text.next({"x.gguf", 600 * kMiB, 600 * kMiB}, 60 * kSecond, 80));
  EXPECT_FALSE(text.next({"x.gguf", 600 * kMiB, 600 * kMiB}, 90 * kSecond, 80)) << "said once";
}

// Milliseconds of estimated work instead of bytes, and no rate.
TEST(ProgressText, OtherWorkHasItsOwnUnits) {
  ProgressText text(true, {.amount = [](std::uint64_t steps) { return std::to_string(steps); },
                           .verb = "measuring",
                           .window = 1000 * kSecond});
  std::optional<std::string> last;
  for (int i = 0; i <= 60; ++i) {
    const auto now = text.next({"prefill", static_cast<std::uint64_t>(i), 240}, i * kSecond, 120);
    if (now) last = now;
  }
  EXPECT_EQ(last, "prefill  [#######.......................]   25%  60 of 240  3:00 left");
}

}  // namespace
}  // namespace samovar
