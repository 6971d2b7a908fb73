// Goal: each tidy rule sees what it is for, and lets the right thing pass.
// Method: small snippets, one bad and one good for each rule.
#include "tests/tidy/rules.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tidy/source.h"

namespace samovar::tidy {
namespace {

TEST(Source, BlanksCommentsAndLiteralsButKeepsLines) {
  const Source source = make_source("src/base/x.cc",
                                    "int a = 1'000; // rand()\n"
                                    "auto s = \"rand()\\\"\"; char c = '\"'; rand();\n"
                                    "/* rand()\n rand() */ int b;\n"
                                    "auto r = R\"(rand())\" + x;\n");
  ASSERT_EQ(source.code.size(), 5U);
  EXPECT_EQ(source.code[0].substr(0, 15), "int a = 1'000; ");
  EXPECT_EQ(source.code[0].find("rand"), std::string::npos);
  EXPECT_EQ(source.code[1].find("rand"), source.lines[1].rfind("rand"));
  EXPECT_EQ(source.code[2].find("rand"), std::string::npos);
  EXPECT_NE(source.code[3].find("int b;"), std::string::npos);
  EXPECT_EQ(source.code[4].find("rand"), std::string::npos);
  EXPECT_NE(source.code[4].find("+ x;"), std::string::npos);
}

TEST(Source, AUseIsAWholeWordThatBelongsToNobodyElse) {
  EXPECT_TRUE(uses("x = rand ();", "rand", true));
  EXPECT_TRUE(uses("std::rand()", "rand", true));
  EXPECT_FALSE(uses("operand()", "rand", true));
  EXPECT_FALSE(uses("random()", "rand", true));
  EXPECT_FALSE(uses("dice.rand()", "rand", true));
  EXPECT_FALSE(uses("dice->rand()", "rand", true));
  EXPECT_FALSE(uses("Dice::rand()", "rand", true));
  EXPECT_FALSE(uses("int rand;", "rand", true));
  EXPECT_TRUE(uses("std::thread worker;", "std::thread", false));
  EXPECT_FALSE(uses("std::thread::hardware_concurrency()", "std::thread", false));
  EXPECT_TRUE(uses("std::chrono::system_clock::now()", "system_clock::now", true));
}

TEST(Rules, LayersRefuseIncludesThatGoUpOrAcross) {
  EXPECT_EQ(check_layers(make_source("src/core/a.h", "#include \"engine/engine.h\"\n")).size(), 1U);
  EXPECT_EQ(check_layers(make_source("src/chat/a.cc", "#include \"sched/scheduler.h\"\n")).size(),
            1U);
  EXPECT_EQ(check_layers(make_source("src/api/a.cc", "#include \"http/server.h\"\n")).size(), 1U);
  EXPECT_EQ(check_layers(make_source("src/api/a.cc", "#include \"local.h\"\n")).size(), 1U);
  EXPECT_EQ(check_layers(make_source("src/novel/a.cc", "")).size(), 1U);
  EXPECT_TRUE(check_layers(make_source("src/turn/a.cc",
                                       "#include \"turn/b.h\"\n#include \"chat/c.h\"\n"
                                       "#include <string>\n"))
                  .empty());
  EXPECT_TRUE(check_layers(make_source("src/turn/a_test.cc", "#include \"tests/support/fake.h\"\n"))
                  .empty());
  EXPECT_FALSE(
      check_layers(make_source("src/turn/a.cc", "#include \"tests/support/fake.h\"\n")).empty());
}

TEST(Rules, LibrariesAreKnownToFewFolders) {
  EXPECT_EQ(check_libraries(make_source("src/sched/a.cc", "#include <llama.h>\n")).size(), 1U);
  EXPECT_EQ(check_libraries(make_source("src/turn/a.cc", "#include <ggml-backend.h>\n")).size(),
            1U);
  EXPECT_EQ(check_libraries(make_source("src/chat/a.cc", "#include <nlohmann/json.hpp>\n")).size(),
            1U);
  EXPECT_EQ(
      check_libraries(make_source("src/api/a.cc", "#include <cpp-httplib/httplib.h>\n")).size(),
      1U);
  EXPECT_EQ(check_libraries(make_source("src/store/a.cc", "#include <sqlite3.h>\n")).size(), 1U);
  EXPECT_EQ(check_libraries(make_source("src/api/a.h", "#include <nlohmann/json.hpp>\n")).size(),
            1U);
  EXPECT_TRUE(
      check_libraries(make_source("src/api/a.h", "#include <nlohmann/json_fwd.hpp>\n")).empty());
  EXPECT_TRUE(check_libraries(make_source("src/engine/a.h", "#include <llama.h>\n")).empty());
  EXPECT_TRUE(check_libraries(make_source("src/sched/a.cc", "#include \"engine/llama_engine.h\"\n"))
                  .empty());
}

TEST(Rules, BannedCallsAreFoundOutsideTheirHomes) {
  EXPECT_EQ(check_banned(make_source("src/sched/a.cc", "auto f = fopen(p, m);\n")).size(), 1U);
  EXPECT_EQ(check_banned(make_source("src/chat/a.cc", "std::thread t;\n")).size(), 1U);
  EXPECT_EQ(
      check_banned(make_source("src/turn/a.cc", "x = std::chrono::system_clock::now();\n")).size(),
      1U);
  EXPECT_EQ(check_banned(make_source("src/api/a.cc", "std::this_thread::sleep_for(d);\n")).size(),
            1U);
  EXPECT_EQ(check_banned(make_source("src/api/a.h", "using namespace std;\n")).size(), 1U);
  EXPECT_TRUE(check_banned(make_source("src/sched/a.cc", "std::thread t;  // fopen()\n")).empty());
  EXPECT_TRUE(check_banned(make_source("src/app/a.cc", "fmt::print(\"rand()\");\n")).empty());
  EXPECT_TRUE(check_banned(make_source("src/api/a_test.cc", "rand();\n")).empty());
}

TEST(Rules, SizesHaveLimits) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += "int x;\n";
  EXPECT_EQ(check_file_size(make_source("src/base/a.cc", text)).size(), 1U);
  EXPECT_TRUE(check_file_size(make_source("src/base/a_test.cc", text)).empty());
  EXPECT_EQ(check_file_size(make_source("src/base/a_test.cc", text + text)).size(), 1U);
}

TEST(Rules, ColumnsCountCharactersNotBytes) {
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "é";
  EXPECT_TRUE(check_columns(make_source("src/base/a.cc", wide + "\n")).empty());
  EXPECT_EQ(check_columns(make_source("src/base/a.cc", wide + "é\n")).size(), 1U);
}

TEST(Rules, LongFunctionsAreFoundAndTablesAreNot) {
  std::string body;
  for (int i = 0; i < 70; ++i) body += "  call();\n";
  EXPECT_EQ(check_functions(make_source("src/base/a.cc", "int f() {\n" + body + "}\n")).size(), 1U);
  EXPECT_EQ(check_functions(
                make_source("src/base/a.cc", "int A::f(int x,\n         int y) {\n" + body + "}\n"))
                .size(),
            1U);
  EXPECT_TRUE(
      check_functions(make_source("src/base/a.cc", "const int t[] = {\n" + body + "};\n")).empty());
  EXPECT_TRUE(check_functions(make_source("src/base/a.h", "class A {\n" + body + "};\n")).empty());
  EXPECT_TRUE(check_functions(make_source("src/base/a.cc", "int f() {\n  return 1;\n}\n")).empty());
}

TEST(Rules, HeadersOpenWithACommentAndAGuard) {
  EXPECT_EQ(check_header(make_source("src/base/a.h", "int x;\n")).size(), 2U);
  EXPECT_TRUE(check_header(make_source("src/base/a.h", "// A: what.\n#pragma once\n")).empty());
}

TEST(Rules, LeftoversAreFoundInCodeAndPages) {
  const std::string mark = std::string("TO") + "DO";
  EXPECT_EQ(check_leftovers(make_source("src/base/a.cc", "// " + mark + ": later\n")).size(), 1U);
  EXPECT_EQ(check_leftovers(make_source("docs/a.md", "# A\n" + mark + "\n")).size(), 1U);
  EXPECT_TRUE(check_leftovers(make_source("docs/a.md", "# A\nMAS" + mark + "N\n")).empty());
}

TEST(Rules, PagesHaveOneTitleOnTheirFirstLine) {
  EXPECT_TRUE(check_markdown(make_source("docs/a.md", "# A\n\n```\n# a comment\n```\n")).empty());
  EXPECT_EQ(check_markdown(make_source("docs/a.md", "# A\n# B\n")).size(), 1U);
  EXPECT_EQ(check_markdown(make_source("docs/a.md", "text\n# A\n")).size(), 1U);
  EXPECT_EQ(check_markdown(make_source("docs/a.md", "")).size(), 1U);
}

}  // namespace
}  // namespace samovar::tidy
