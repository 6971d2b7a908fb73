// The option table, driven through parse_serve() as the program does.
#include "app/options.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "app/foreign_flags.h"
#include "app/version.h"
#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

using testing::TemporaryFile;
using Words = std::vector<std::string>;

ServeOptions parse(const Words& words) {
  auto parsed = parse_serve(words);
  if (!parsed) ADD_FAILURE() << parsed.error().describe();
  return parsed ? parsed->options : ServeOptions{};
}

Error refusal(const Words& words) {
  auto parsed = parse_serve(words);
  if (parsed) ADD_FAILURE() << "was accepted";
  return parsed ? Error{} : parsed.error();
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Goal: a llama-server command line moves over, in all of its spellings.
TEST(Options, LlamaServerSpellingsWork) {
  const ServeOptions o = parse(
      {"-m",   "x.gguf", "-c",  "65536",     "-t",      "6",         "-tb",       "8",
       "-b",   "1024",   "-ub", "256",       "-ngl",    "99",        "-ctk=q8_0", "-ctv",
       "q8_0", "-np",    "2",   "--host",    "0.0.0.0", "--port",    "9000",      "-a",
       "mine", "--temp", "0.2", "--top-k",   "7",       "--top-p",   "0.5",       "--min-p",
       "0.01", "--seed", "42",  "--api-key", "one",     "--api-key", "two",       "--no-swa-full"});
  EXPECT_EQ(o.model, "x.gguf");
  EXPECT_EQ(o.ctx_size, 65536);
  EXPECT_EQ(o.threads, 6);
  EXPECT_EQ(o.threads_batch, 8);
  EXPECT_EQ(o.batch_size, 1024);
  EXPECT_EQ(o.ubatch_size, 256);
  EXPECT_EQ(o.gpu_layers, 99);
  EXPECT_EQ(o.cache_type_k, "q8_0");
  EXPECT_EQ(o.cache_type_v, "q8_0");
  EXPECT_EQ(o.parallel, 2);
  EXPECT_EQ(o.host, "0.0.0.0");
  EXPECT_EQ(o.port, 9000);
  EXPECT_EQ(o.alias, "mine");
  EXPECT_DOUBLE_EQ(o.sampling.temperature, 0.2);
  EXPECT_EQ(o.sampling.top_k, 7);
  EXPECT_DOUBLE_EQ(o.sampling.top_p, 0.5);
  EXPECT_DOUBLE_EQ(o.sampling.min_p, 0.01);
  EXPECT_EQ(o.sampling.seed, 42U);
  EXPECT_EQ(o.api_keys, (Words{"one", "two"}));
  EXPECT_FALSE(o.swa_full);
}

TEST(Options, DefaultsAreTheDocumentedOnes) {
  const ServeOptions o = parse({});
  EXPECT_EQ(o.host, "127.0.0.1");
  EXPECT_EQ(o.port, 8080);
  EXPECT_EQ(o.parallel, 4);
  EXPECT_EQ(o.gpu_layers, -1);
  EXPECT_EQ(o.anchor_grid, 4096);
  EXPECT_DOUBLE_EQ(o.decode_share, 0.6);
  EXPECT_TRUE(o.swa_full);
  EXPECT_FALSE(o.sampling.seed.has_value());
}

TEST(Options, NegativeAndNamedValuesAreValues) {
  EXPECT_EQ(parse({"--threads", "-1"}).threads, -1);
  EXPECT_EQ(parse({"-s", "-1"}).sampling.seed, std::nullopt);
  EXPECT_EQ(parse({"-ngl", "all"}).gpu_layers, -1);
  EXPECT_EQ(parse({"-ngl=3"}).gpu_layers, 3);
  EXPECT_EQ(parse({"--model", "-ngl"}).model, "-ngl") << "a value may look like a flag";
}

TEST(Options, LastOneOfRepeatedFlagsCounts) {
  EXPECT_EQ(parse({"--port", "1", "--port", "2"}).port, 2);
}

// Goal: what is wrong is said with the flag. Method: a table of command lines and what must be
// named.
TEST(Options, MistakesNameTheFlag) {
  const std::vector<std::pair<Words, std::string>> table = {
      {{"--port", "70000"}, "--port"},
      {{"--port", "80x"}, "--port"},
      {{"-c", "-5"}, "--ctx-size"},
      {{"-ctk", "q9"}, "--cache-type-k"},
      {{"--memory", "much"}, "--memory"},
      {{"--decode-share", "1.5"}, "--decode-share"},
      {{"--decode-share", "nan"}, "--decode-share"},
      {{"-np", "0"}, "--parallel"},
      {{"--frobnicate"}, "--frobnicate"},
      {{"--port"}, "--port"},
      {{"word"}, "word"},
      {{"--config", "/nonexistent"}, "/nonexistent"},
  };
  for (const auto& [words, name] : table) {
    EXPECT_NE(refusal(words).describe().find(name), std::string::npos)
        << name << ": " << refusal(words).describe();
  }
}

// Goal: flags that only llama-server has never fail silently and never swallow a neighbour.
TEST(Options, ForeignFlagsAreAcceptedWithANoteOrRefusedWithAReason) {
  const auto parsed = parse_serve(
      {"--jinja", "-fa", "on", "-cb", "-sps", "0.5", "--port", "81", "--flash-attn", "-np", "3"});
  ASSERT_TRUE(parsed.has_value()) << parsed.error().describe();
  EXPECT_EQ(parsed->options.port, 81);
  EXPECT_EQ(parsed->options.parallel, 3);
  ASSERT_EQ(parsed->notes.size(), 5U);
  EXPECT_NE(parsed->notes[0].find("--jinja: accepted, no effect"), std::string::npos);
  EXPECT_EQ(refusal({"-fa", "off"}).field, "-fa");
  EXPECT_EQ(refusal({"-fa=off"}).field, "-fa");
  EXPECT_NE(refusal({"--cache-ram", "100"}).remedy.find("--anchor-memory"), std::string::npos);
  EXPECT_EQ(refusal({"--mmproj", "x"}).field, "--mmproj");
}

TEST(Options, ConfigFileGivesWhatTheCommandLineDoesNot) {
  const TemporaryFile file(
      "# a comment\nmodel = \"y.gguf\"\nctx-size = 1000\nport = 7000\n"
      "no-swa-full = true\nanchor-memory = \"1.5GiB\"\n"
      "allowed-host = [\"a.lan\", \"b.lan\"]\n");
  const ServeOptions o = parse({"--config", file.path(), "--port", "7001"});
  EXPECT_EQ(o.model, "y.gguf");
  EXPECT_EQ(o.ctx_size, 1000);
  EXPECT_EQ(o.port, 7001);
  EXPECT_FALSE(o.swa_full);
  EXPECT_EQ(o.anchor_memory, 1610612736U);
  EXPECT_EQ(o.allowed_hosts, (Words{"a.lan", "b.lan"}));
}

TEST(Options, ConfigFileMistakesAreErrors) {
  const TemporaryFile unknown("portt = 1\n");
  EXPECT_NE(refusal({"--config", unknown.path()}).describe().find("portt"), std::string::npos);
  const TemporaryFile wrong("port = \"x\"\n");
  EXPECT_NE(refusal({"--config", wrong.path()}).describe().find("--port"), std::string::npos);
}

TEST(Options, SizesAreReadAsPeopleWriteThem) {
  const std::vector<std::pair<const char*, std::uint64_t>> table = {{"0", 0},
                                                                    {"65536", 65536},
                                                                    {"1k", 1024},
                                                                    {"512M", 536870912},
                                                                    {"512MB", 536870912},
                                                                    {"4G", 4294967296},
                                                                    {"1.5GiB", 1610612736},
                                                                    {"2 T", 2199023255552}};
  for (const auto& [text, bytes] : table) EXPECT_EQ(parse_size(text), bytes) << text;
  for (const char* text : {"", "M", "-1", "4X", "4GG", "1e3", "inf", "9999999T"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

// --- resolve ---

ServeOptions servable(const TemporaryFile& model) {
  ServeOptions o;
  o.model = model.path();
  return o;
}

TEST(Resolve, FillsInWhatFollowsFromOtherOptions) {
  const TemporaryFile model("gguf");
  ServeOptions o = servable(model);
  o.parallel = 6;
  ASSERT_TRUE(resolve(o).has_value());
  EXPECT_EQ(o.sequences, 12);
  EXPECT_GE(o.http_threads, o.queue + o.parallel);
  EXPECT_GT(o.anchor_memory.value_or(0), 0U);
  EXPECT_LE(o.anchor_memory.value_or(0), std::uint64_t{4} << 30);
}

TEST(Resolve, RefusesWhatCannotWork) {
  const TemporaryFile model("gguf");
  ServeOptions none;
  EXPECT_EQ(resolve(none).error().field, "--model");
  ServeOptions missing;
  missing.model = "/nonexistent.gguf";
  EXPECT_EQ(resolve(missing).error().field, "--model");
  ServeOptions few = servable(model);
  few.sequences = 2;
  EXPECT_EQ(resolve(few).error().field, "--sequences");
  ServeOptions two_templates = servable(model);
  two_templates.chat_template = "x";
  two_templates.chat_template_file = model.path();
  EXPECT_EQ(resolve(two_templates).error().field, "--chat-template-file");
}

TEST(Resolve, KeysComeFromFileAndEnvironment) {
  const TemporaryFile model("gguf");
  const TemporaryFile keys("# comment\none\r\n\n \t\r\n\ttwo words \r\n  # another\nlast");
  ServeOptions o = servable(model);
  o.api_key_file = keys.path();
  setenv("SAMOVAR_API_KEY", "three", 1);
  const Status status = resolve(o);
  unsetenv("SAMOVAR_API_KEY");
  ASSERT_TRUE(status.has_value()) << status.error().describe();
  EXPECT_EQ(o.api_keys, (Words{"three", "one", "two words", "last"}));
}

TEST(Resolve, KeyFileThatOthersCanReadIsRefused) {
  const TemporaryFile model("gguf");
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0601}) {
    const TemporaryFile keys("one", mode);
    ServeOptions o = servable(model);
    o.api_key_file = keys.path();
    const Status status = resolve(o);
    ASSERT_FALSE(status.has_value()) << mode;
    EXPECT_EQ(status.error().field, "--api-key-file");
    EXPECT_NE(status.error().remedy.find("chmod 600 " + keys.path()), std::string::npos);
    EXPECT_TRUE(o.api_keys.empty());
  }
}

// Goal: a key file that gives no key is a mistake, also beside keys from elsewhere.
TEST(Resolve, KeyFileWithoutKeysIsRefused) {
  const TemporaryFile model("gguf");
  const TemporaryFile keys("# none yet\n\n");
  ServeOptions o = servable(model);
  o.api_keys = {"other"};
  o.api_key_file = keys.path();
  EXPECT_EQ(resolve(o).error().field, "--api-key-file");
  o.api_key_file = "/nonexistent.keys";
  EXPECT_EQ(resolve(o).error().field, "--api-key-file");
}

// Goal: by default 200 streams and more run at the same time, and every turn that may wait does.
TEST(Resolve, ThreadsSufficeForEveryTurn) {
  const TemporaryFile model("gguf");
  ServeOptions o = servable(model);
  ASSERT_TRUE(resolve(o).has_value());
  EXPECT_EQ(o.http_threads, 512);
  ServeOptions many = servable(model);
  many.queue = 1'000;
  ASSERT_TRUE(resolve(many).has_value());
  EXPECT_EQ(many.http_threads, 1'000 + many.parallel + 128);
}

// --- for people ---

// Goal: nothing that can be set is missing from the help or the page.
TEST(OptionDocs, EveryOptionIsInHelpAndPage) {
  ServeOptions options;
  const std::string help = serve_help();
  const std::string page = options_markdown();
  std::set<std::string> seen;
  for (const OptionRow& row : option_rows(options)) {
    EXPECT_FALSE(row.help.empty());
    for (const std::string& flag : row.flags) {
      EXPECT_TRUE(seen.insert(flag).second) << flag << " is in the table twice";
      EXPECT_EQ(find_foreign_flag(flag), nullptr) << flag << " is also a foreign flag";
      EXPECT_NE(help.find(flag), std::string::npos) << flag;
      EXPECT_NE(page.find(flag), std::string::npos) << flag;
    }
  }
}

TEST(OptionDocs, HelpFitsATerminal) {
  std::istringstream lines(serve_help());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(OptionDocs, PageInTheRepositoryIsCurrent) {
  EXPECT_EQ(read(std::string(SAMOVAR_SOURCE) + "/docs/options.md"), options_markdown())
      << "run: build/samovar options --markdown > docs/options.md";
}

TEST(Version, IsTheProjectsVersion) {
  EXPECT_NE(read(std::string(SAMOVAR_SOURCE) + "/CMakeLists.txt")
                .find("project(samovar VERSION " + std::string(kVersion)),
            std::string::npos);
}

}  // namespace
}  // namespace samovar::app
