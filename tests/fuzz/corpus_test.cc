// Goal: inputs that fuzzing once found interesting are read without a fault, in every build.
// Method: every file of corpus/<target>/ and prefixes of it through the target's own function; a
// fault aborts.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/targets.h"

namespace samovar {
namespace {

struct Target {
  const char* name;
  void (*run)(Bytes);
};

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, IsReadWithoutAFault) {
  const auto folder = std::filesystem::path(SAMOVAR_SOURCE "/tests/fuzz/corpus") / GetParam().name;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> content(std::istreambuf_iterator<char>(file), {});
    const std::vector<std::uint8_t> input(content.begin(), content.end());
    GetParam().run(input);
    for (std::size_t size = 0; size < input.size(); size += 97) {
      GetParam().run(Bytes(input).first(size));
    }
    ++files;
  }
  EXPECT_GT(files, 0) << folder;
}

INSTANTIATE_TEST_SUITE_P(
    Targets, Corpus,
    ::testing::Values(Target{"catalog", fuzz_catalog::run}, Target{"chat", fuzz_chat::run},
                      Target{"completions", fuzz_completions::run},
                      Target{"import", fuzz_import::run}, Target{"messages", fuzz_messages::run},
                      Target{"responses", fuzz_responses::run},
                      Target{"segment", fuzz_segment::run}, Target{"snapshot", fuzz_snapshot::run},
                      Target{"trace", fuzz_trace::run}),
    [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace samovar
