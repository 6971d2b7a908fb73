// Goal: the code base keeps its shape: layers, libraries behind their doors, readable sizes.
// Method: every rule runs over every source file; each failure names the file, the line and the
// remedy.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tidy/rules.h"
#include "tests/tidy/source.h"

namespace samovar::tidy {
namespace {

constexpr std::size_t kGrowing = 300;  // lines: worth a thought about splitting

const std::vector<Source>& sources() {
  static const std::vector<Source> all = read_sources(SAMOVAR_SOURCE);
  return all;
}

void expect_clean(Findings (*rule)(const Source&)) {
  for (const Source& source : sources()) {
    for (const std::string& finding : rule(source)) ADD_FAILURE() << finding;
  }
}

TEST(Tidy, FindsTheSources) {
  const auto has = [](const std::string& path) {
    return std::any_of(sources().begin(), sources().end(),
                       [&](const Source& source) { return source.path == path; });
  };
  EXPECT_TRUE(has("src/base/result.h"));
  EXPECT_TRUE(has("tests/tidy/tidy_test.cc"));
  EXPECT_GT(sources().size(), 20U);
}

TEST(Tidy, IncludesGoDownOnly) { expect_clean(check_layers); }
TEST(Tidy, LibrariesStayBehindTheirDoors) { expect_clean(check_libraries); }
TEST(Tidy, NoBannedCalls) { expect_clean(check_banned); }
TEST(Tidy, LinesFitTheScreen) { expect_clean(check_columns); }
TEST(Tidy, FunctionsFitTheScreen) { expect_clean(check_functions); }
TEST(Tidy, HeadersSayWhatTheyAreFor) { expect_clean(check_header); }
TEST(Tidy, NothingIsLeftForLater) { expect_clean(check_leftovers); }
TEST(Tidy, PagesHaveOneTitle) { expect_clean(check_markdown); }

TEST(Tidy, FilesStaySmall) {
  expect_clean(check_file_size);
  for (const Source& source : sources()) {
    if (!source.is_cpp() || source.is_test() || source.lines.size() <= kGrowing) continue;
    GTEST_LOG_(INFO) << source.path << " has " << source.lines.size() << " lines";
  }
}

}  // namespace
}  // namespace samovar::tidy
