// Goal: docs/store-format.md shows the bytes that the code writes.
// Method: dump a small file as `hexdump -C` does and look for it in the page.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/support/blobs.h"

namespace samovar {
namespace {

constexpr std::size_t kWidth = 16;

std::string dump_line(std::size_t offset, Bytes bytes) {
  std::string numbers;
  std::string text;
  for (std::size_t i = 0; i < kWidth; ++i) {
    if (i == kWidth / 2) numbers += ' ';
    numbers += i < bytes.size() ? fmt::format("{:02x} ", bytes[i]) : "   ";
    if (i < bytes.size()) {
      text += bytes[i] >= 0x20 && bytes[i] < 0x7F ? static_cast<char>(bytes[i]) : '.';
    }
  }
  return fmt::format("{:08x}  {} |{}|\n", offset, numbers, text);
}

// A star stands for lines that repeat the one before.
std::string dump(Bytes bytes) {
  std::string text;
  bool starred = false;
  for (std::size_t at = 0; at < bytes.size(); at += kWidth) {
    const Bytes line = bytes.subspan(at, std::min(kWidth, bytes.size() - at));
    if (at > 0 && std::ranges::equal(line, bytes.subspan(at - kWidth, kWidth))) {
      if (!starred) text += "*\n";
      starred = true;
      continue;
    }
    starred = false;
    text += dump_line(at, line);
  }
  return text + fmt::format("{:08x}\n", bytes.size());
}

TEST(StoreFormatPage, ShowsTheBytesThatTheCodeWrites) {
  std::ifstream file(SAMOVAR_SOURCE "/docs/store-format.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::string shown = "```\n" + dump(testing::file_of(testing::example_segment())) + "```\n";
  EXPECT_NE(page.find(shown), std::string::npos) << "the page must contain:\n" << shown;
}

}  // namespace
}  // namespace samovar
