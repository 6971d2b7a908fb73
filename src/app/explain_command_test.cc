// Goal: `samovar explain` says what is documented, and what is wrong with its input in words that
// name file and field. Method: the committed examples through the command; small files for
// mistakes.
#include "app/explain_command.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/explain_print.h"
#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

using testing::TemporaryFile;
using Words = std::vector<std::string>;

std::string source(const std::string& path) { return std::string(SAMOVAR_SOURCE) + "/" + path; }

ExplainRequest parsed(const Words& words) {
  auto request = parse_explain(words);
  EXPECT_TRUE(request.has_value()) << request.error().describe();
  return request ? *request : ExplainRequest{};
}

std::string answer(const Words& words) {
  const auto text = run_explain(parsed(words));
  EXPECT_TRUE(text.has_value()) << (text ? "" : text.error().describe());
  return text.value_or("");
}

std::string mistake(const Words& words) {
  const auto request = parse_explain(words);
  if (!request) return request.error().describe();
  const auto text = run_explain(*request);
  return text ? "" : text.error().describe();
}

const char* const kHello = R"({"messages":[{"role":"user","content":"hello"}]})";

TEST(ExplainCommand, MistakesOfTheCommandLineAreNamed) {
  EXPECT_NE(mistake({}).find("two requests"), std::string::npos);
  EXPECT_NE(mistake({"a"}).find("one was given"), std::string::npos);
  EXPECT_NE(mistake({"a", "b", "c"}).find("3 were given"), std::string::npos);
  EXPECT_NE(mistake({"-", "-"}).find("standard input"), std::string::npos);
  EXPECT_NE(mistake({"a", "b", "--frob"}).find("--frob"), std::string::npos);
  EXPECT_NE(mistake({"a", "b", "--rate", "0"}).find("--rate"), std::string::npos);
  EXPECT_NE(mistake({"a", "b", "--rate", "x"}).find("rate"), std::string::npos);
  EXPECT_NE(mistake({"a", "b", "--neutralise", "x"}).find("claude-code-billing"),
            std::string::npos);
  EXPECT_FALSE(parsed({"--help"}).help.empty());
}

TEST(ExplainCommand, BadInputNamesTheFileAndTheField) {
  const TemporaryFile good(kHello);
  const TemporaryFile no_json("{oops");
  const TemporaryFile no_role(R"({"messages":[{"content":"x"}]})");
  EXPECT_NE(mistake({good.path(), "/nonexistent.json"}).find("/nonexistent.json"),
            std::string::npos);
  EXPECT_NE(mistake({source("docs"), good.path()}).find("cannot be read"), std::string::npos);
  EXPECT_NE(mistake({good.path(), no_json.path()}).find(no_json.path()), std::string::npos);
  const std::string role = mistake({no_role.path(), good.path()});
  EXPECT_NE(role.find(no_role.path()), std::string::npos) << role;
  EXPECT_NE(role.find("messages[0].role"), std::string::npos) << role;
  EXPECT_NE(mistake({good.path(), good.path(), "-m", "/no.gguf"}).find("/no.gguf"),
            std::string::npos);
  EXPECT_NE(mistake({good.path(), good.path(), "--chat-template-file", "x"}).find("-m"),
            std::string::npos);
}

TEST(ExplainCommand, SameRequestLosesNothing) {
  const TemporaryFile file(kHello);
  const std::string text = answer({file.path(), file.path()});
  EXPECT_NE(text.find("[none]"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing was computed again"), std::string::npos) << text;
}

TEST(ExplainCommand, ALineOfALogDoes) {
  const std::string before = source("docs/examples/time-before.json");
  std::ifstream file(source("docs/examples/time-after.json"));
  const auto body = nlohmann::ordered_json::parse(file);
  const TemporaryFile as_object(nlohmann::ordered_json{{"time", 1}, {"body", body}}.dump());
  const TemporaryFile as_text(nlohmann::ordered_json{{"request", body.dump()}}.dump());
  for (const TemporaryFile* log : {&as_object, &as_text}) {
    EXPECT_NE(answer({before, log->path()}).find("[time_or_date]"), std::string::npos);
  }
}

TEST(ExplainCommand, RulesAreAppliedAndReported) {
  const auto request = [](const std::string& stamp) {
    return R"({"messages":[{"role":"system","content":"x-anthropic-billing-header: )"
           R"(cc_version=2.1.101.)" +
           stamp.substr(0, 3) + "; cc_entrypoint=cli; cch=" + stamp + ";" + std::string(3000, 'r') +
           R"("},{"role":"user","content":"hi"}]})";
  };
  const TemporaryFile before(request("a5145"));
  const TemporaryFile after(request("0c8b4"));
  const std::string on = answer({before.path(), after.path()});
  EXPECT_NE(on.find("[none]"), std::string::npos) << on;
  EXPECT_NE(on.find("claude-code-billing replaced 2 values"), std::string::npos) << on;
  const std::string off = answer({before.path(), after.path(), "--neutralise", "none"});
  EXPECT_NE(off.find("[counter_or_hash]"), std::string::npos) << off;
  EXPECT_NE(off.find("billing line"), std::string::npos) << off;
}

TEST(ExplainCommand, SortedToolsAreInOneOrder) {
  const Words files = {source("docs/examples/tool-order-before.json"),
                       source("docs/examples/tool-order-after.json")};
  EXPECT_NE(answer(files).find("[tool_order]"), std::string::npos);
  EXPECT_NE(answer({files[0], files[1], "--sort-tools"}).find("[none]"), std::string::npos);
}

TEST(ExplainCommand, JsonSaysThatGuessesAreGuesses) {
  const auto json =
      nlohmann::json::parse(answer({source("docs/examples/time-before.json"),
                                    source("docs/examples/time-after.json"), "--json"}));
  EXPECT_EQ(json["class"], "time_or_date");
  EXPECT_EQ(json["estimated"], true);
  EXPECT_EQ(json["first_difference"]["estimated"], true);
  EXPECT_EQ(json["first_difference"]["message"], 0);
  EXPECT_TRUE(json["seconds_lost"].is_null());
}

TEST(ExplainCommand, WithAModelTokensAreExact) {
  const std::string model = SAMOVAR_MODELS "/tiny-qwen35moe.gguf";
  if (!std::ifstream(model).good()) GTEST_SKIP() << "no " << model;
  const std::vector<std::pair<const char*, const char*>> examples = {
      {"time", "time_or_date"},
      {"unique-id", "unique_id"},
      {"git-status", "counter_or_hash"},
      {"tool-order", "tool_order"},
      {"late-tool", "tools_added_or_removed"},
      {"reminder", "history_edited"},
      {"tool-arguments", "reply_altered"},
      {"lost-reply", "reply_missing"},
      {"compacted", "history_compacted"},
      {"reasoning", "reasoning_dropped_by_client"},
  };
  for (const auto& [name, cause] : examples) {
    const std::string start = source("docs/examples/") + name;
    const auto json = nlohmann::json::parse(
        answer({start + "-before.json", start + "-after.json", "--json", "-m", model}));
    EXPECT_EQ(json["class"], cause) << name;
    EXPECT_EQ(json["first_difference"]["estimated"], false) << name;
    EXPECT_GT(json["first_difference"]["token"], 0) << name;
  }
}

TEST(ExplainPrint, TextOfAPromptDoesNotSteerTheTerminal) {
  Explanation e;
  e.title = "T";
  e.first.emplace();
  e.first->field = "content";
  e.first->old_text = "a\033[2J\nb";
  e.first->new_text = "a\xC3\xA9\tc";
  e.first->new_at = 3;
  const std::string text = print_explanation(e, {});
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("a\\x1b[2J\\nb"), std::string::npos) << text;
  EXPECT_NE(text.find("new     a\xC3\xA9\\tc\n          ^\n"), std::string::npos) << text;
  EXPECT_NE(print_explanation(e, {.colour = true}).find("\033[1mT\033[0m"), std::string::npos);
}

// Every console block of the page that calls the command shows what it answers.
TEST(ExplainDocs, PageShowsWhatTheCommandSays) {
  std::ifstream file(source("docs/why-did-it-miss.md"));
  std::string line;
  int blocks = 0;
  while (std::getline(file, line)) {
    if (!line.starts_with("$ samovar explain ")) continue;
    std::istringstream rest(line.substr(18));
    Words words;
    for (std::string word; rest >> word;) {
      words.push_back(word.starts_with("docs/") ? source(word) : word);
    }
    std::string shown;
    while (std::getline(file, line) && line != "```") shown += line + "\n";
    EXPECT_EQ(shown, answer(words)) << words[0];
    ++blocks;
  }
  EXPECT_GE(blocks, 10);
}

}  // namespace
}  // namespace samovar::app
