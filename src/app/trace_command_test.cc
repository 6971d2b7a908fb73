// Goal: the words of `samovar trace` and `samovar replay` are understood, and refused with what is
// wrong; what `trace` makes can be looked into.
#include "app/trace_command.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>

#include "app/options.h"
#include "app/replay_command.h"
#include "client/append_file.h"
#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

class TraceCommandTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return folder.at(name); }
  static Result<TraceAnswer> run(const std::vector<std::string>& words) {
    const auto request = parse_trace(words);
    if (!request) return std::unexpected(request.error());
    return run_trace(*request);
  }

  testing::TemporaryFolder folder;
};

TEST_F(TraceCommandTest, MakesLooksIntoAndRedacts) {
  ASSERT_TRUE(run({"generate", "--seed", "4", "--sessions", "2", "--turns", "4", "--scale", "0.01",
                   "-o", at("a")}));
  struct stat info = {};
  ASSERT_EQ(stat(at("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const auto told = run({"info", at("a")});
  ASSERT_TRUE(told.has_value());
  EXPECT_NE(told->text.find("sessions    2"), std::string::npos) << told->text;
  ASSERT_TRUE(run({"redact", at("a"), at("b"), "--seed", "x"}));
  ASSERT_TRUE(run({"redact", at("a"), at("c"), "--seed", "x"}));
  ASSERT_TRUE(run({"redact", at("a"), at("d")}));
  EXPECT_EQ(*client::read_whole(at("b")), *client::read_whole(at("c")));
  EXPECT_NE(*client::read_whole(at("b")), *client::read_whole(at("d")));  // a key of its own
  const auto again = run({"generate", "-o", at("a")});
  ASSERT_FALSE(again.has_value());  // it overwrites nothing
  EXPECT_NE(again.error().message.find(at("a")), std::string::npos);
}

TEST_F(TraceCommandTest, ImportsALog) {
  std::ofstream(at("log")) << R"({"messages":[{"role":"user","content":"x"}]})" << "\nno\n";
  const auto made = run({"import", at("log"), "-o", "-"});
  ASSERT_TRUE(made.has_value()) << made.error().describe();
  EXPECT_TRUE(made->text.starts_with("{\"samovar_trace\":1"));
  ASSERT_EQ(made->notes.size(), 2U);
  EXPECT_TRUE(made->notes[0].starts_with("line 2 is left out"));
}

TEST_F(TraceCommandTest, ErrorsNameFileAndFlag) {
  EXPECT_NE(run({"info", at("nothing")}).error().message.find(at("nothing")), std::string::npos);
  std::ofstream(at("bad")) << "{}\n{}\n";
  EXPECT_TRUE(run({"info", at("bad")}).error().message.starts_with(at("bad") + ": line 1"));
  EXPECT_EQ(run({"generate", "--scale", "0", "-o", "-"}).error().field, "--scale");
  EXPECT_EQ(parse_trace({"tell"}).error().message, "unknown command: tell");
  EXPECT_FALSE(parse_trace({"redact", "a"}).has_value());
  EXPECT_FALSE(parse_trace({"generate"}).has_value());
  EXPECT_FALSE(parse_trace({})->help.empty());
  EXPECT_NE(parse_trace({"redact", "--help"})->help.find("--keep-names"), std::string::npos);
}

TEST(ReplayOptions, AreUnderstood) {
  const auto request = parse_replay({"t.jsonl",    "--against",
                                     "http://x:1", "--speed",
                                     "10",         "--concurrency",
                                     "3",          "--runs",
                                     "2",          "--max-beyond",
                                     "0",          "--require-equal",
                                     "--greedy",   "--recorded-replies",
                                     "--timeout",  "1.5",
                                     "--json",     "-",
                                     "--csv",      "f"},
                                    "key");
  ASSERT_TRUE(request.has_value()) << request.error().describe();
  EXPECT_EQ(request->file, "t.jsonl");
  EXPECT_EQ(request->options.schedule.speed, 10);
  EXPECT_EQ(request->options.schedule.sessions, 3U);
  EXPECT_EQ(request->runs, 2);
  EXPECT_EQ(request->limits.beyond, 0);
  EXPECT_TRUE(request->limits.equal);
  EXPECT_TRUE(request->options.greedy);
  EXPECT_TRUE(request->options.recorded_replies);
  EXPECT_TRUE(request->options.sessions_named);
  EXPECT_EQ(request->options.timeout, 1'500'000);
  EXPECT_EQ(request->key, "key");
}

TEST(ReplayOptions, OptionsOfAServerInThisProcessFollowTwoDashes) {
  const auto request = parse_replay({"t", "--speed", "0", "--", "-m", "x.gguf", "-c", "512"}, "");
  ASSERT_TRUE(request.has_value()) << request.error().describe();
  EXPECT_EQ(request->serve, (std::vector<std::string>{"-m", "x.gguf", "-c", "512"}));
  EXPECT_FALSE(request->limits.beyond.has_value());
  EXPECT_FALSE(parse_replay({"t", "--", "-m", "x.gguf", "--speed", "0"}, "").has_value());
  const auto help = parse_replay({"t", "--", "--help"}, "");
  ASSERT_TRUE(help.has_value());
  EXPECT_EQ(help->help, serve_help());
}

TEST(ReplayOptions, AKeyFileHoldsOneKey) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.at("key");
  const auto key = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    const auto request = parse_replay({"t", "--against", "u", "--key-file", path}, "other");
    return request ? request->key : request.error().field + ": " + request.error().message;
  };
  EXPECT_EQ(key("secret\r\n"), "secret");
  EXPECT_EQ(key("\n"), "--key-file: " + path + " is empty");
  EXPECT_EQ(key(""), "--key-file: cannot read a key from " + path);
  EXPECT_EQ(key("a b\n"), "--key-file: the API key has blanks or other odd characters");
}

TEST(ReplayOptions, WhatCannotWorkIsRefused) {
  const auto field = [](const std::vector<std::string>& words) {
    const auto request = parse_replay(words, "");
    return request ? "accepted" : request.error().field;
  };
  EXPECT_EQ(field({"t"}), "--against");
  EXPECT_EQ(field({"t", "--against", "u", "--", "-m", "x"}), "--against");
  EXPECT_EQ(field({"t", "--against", "u", "--require-equal"}), "--require-equal");
  EXPECT_EQ(field({"t", "--against", "u", "--json", "-", "--csv", "-"}), "--csv");
  EXPECT_EQ(field({"t", "--against", "u", "--json", "f", "--csv", "f"}), "--csv");
  EXPECT_EQ(field({"t", "--against", "u", "--json", ::testing::TempDir()}), "--json");
  EXPECT_EQ(field({"t", "--against", "u", "--csv", "/nowhere/f"}), "--csv");
  EXPECT_NE(parse_replay({"t", "more", "--against", "u"}, "").error().message.find("more"),
            std::string::npos);
  EXPECT_FALSE(parse_replay({"--against", "u"}, "").has_value());
  EXPECT_FALSE(parse_replay({"t", "--against", "u", "--speed", "-1"}, "").has_value());
  EXPECT_FALSE(parse_replay({"--help"}, "")->help.empty());
}

TEST(RecordOptions, AreOffUnlessAskedFor) {
  const auto plain = parse_serve({"-m", "x.gguf"});
  ASSERT_TRUE(plain.has_value());
  EXPECT_TRUE(plain->options.record.empty());
  auto recording = parse_serve({"-m", "x.gguf", "--record", "f", "--record-redact"});
  ASSERT_TRUE(recording.has_value());
  EXPECT_EQ(recording->options.record, "f");
  EXPECT_TRUE(recording->options.record_redact);
  ServeOptions options;
  options.hf_repo = "owner/name";
  options.offline = true;
  options.record_redact = true;
  options.store = false;
  const auto refused = resolve(options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().field, "--record-redact");
}

}  // namespace
}  // namespace samovar::app
