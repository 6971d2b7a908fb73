// Goal: every command line means what the help says; answers, JSON and exit codes are right with
// and without a server on the folder. Method: parse_cache() and run_cache() on small stores in
// SimFs, and once with a real catalog.
#include "app/cache_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cache_tables.h"
#include "fs/posix_fs.h"
#include "tests/support/sim_fs.h"
#include "tests/support/small_store.h"
#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

using nlohmann::json;
using samovar::testing::model_named;
using samovar::testing::session_of;
using samovar::testing::SmallStore;
using Words = std::vector<std::string>;

CacheRequest parse(const Words& words) {
  auto request = parse_cache(words);
  if (!request) ADD_FAILURE() << request.error().describe();
  return request ? *request : CacheRequest{};
}

std::string refusal(const Words& words) {
  const auto request = parse_cache(words);
  if (request) ADD_FAILURE() << "was accepted";
  return request ? "" : request.error().describe();
}

TEST(CacheOptions, EveryCommandHasItsOptions) {
  EXPECT_EQ(parse({"ls", "--store-dir", "/s"}).folder, "/s");
  EXPECT_TRUE(parse({"ls", "--entries", "--json"}).entries);
  EXPECT_EQ(parse({"ls", "--model", "tiny"}).model, "tiny");
  EXPECT_TRUE(parse({"verify", "--quick", "--repair"}).repair);
  EXPECT_EQ(parse({"gc", "--size", "10G", "--dry-run"}).size, std::uint64_t{10} << 30);
  EXPECT_FALSE(parse({"gc"}).size);
  EXPECT_EQ(parse({"pin", "0123abcd"}).id, "0123abcd");
  EXPECT_EQ(parse({"purge", "--session", "my key"}).session, "my key");
  const CacheRequest out = parse({"export", "0123abcd", "a.bundle"});
  EXPECT_EQ(out.id, "0123abcd");
  EXPECT_EQ(out.file, "a.bundle");
  EXPECT_EQ(parse({"import", "a.bundle"}).command, "import");
}

TEST(CacheOptions, EveryCommandHasHelp) {
  EXPECT_NE(parse({}).help.find("rebuild"), std::string::npos);
  EXPECT_NE(parse({"--help"}).help.find("purge"), std::string::npos);
  for (const std::string command : {"ls", "stats", "verify", "rebuild", "gc", "pin", "unpin", "rm",
                                    "purge", "export", "import"}) {
    const std::string help = parse({command, "--help"}).help;
    EXPECT_NE(help.find("samovar cache " + command), std::string::npos) << help;
    EXPECT_NE(help.find("--store-dir"), std::string::npos);
    EXPECT_NE(help.find("--json"), std::string::npos);
  }
}

TEST(CacheOptions, WhatMakesNoSenseIsRefused) {
  EXPECT_NE(refusal({"frob"}).find("unknown command: frob"), std::string::npos);
  EXPECT_NE(refusal({"ls", "--frob"}).find("--frob"), std::string::npos);
  EXPECT_NE(refusal({"gc", "--size", "much"}).find("not a size"), std::string::npos);
  EXPECT_NE(refusal({"rm"}).find("ID"), std::string::npos);
  EXPECT_NE(refusal({"export", "0123abcd"}).find("FILE"), std::string::npos);
  EXPECT_NE(refusal({"purge"}).find("purge what"), std::string::npos);
  refusal({"purge", "--all", "--session", "x"});
  refusal({"purge", "--all", "--model", "x"});
}

TEST(CacheTables, ColumnsAreAsWideAsTheyMustBe) {
  Table table({{"NAME"}, {"SIZE", true}, {"NOTE"}});
  table.add({"a", "1", ""});
  table.add({"émile", "12345", "x"});
  EXPECT_EQ(table.text(), "NAME    SIZE  NOTE\na          1\némile  12345  x\n");
}

TEST(CacheTables, AgesAndTextsAreForPeople) {
  EXPECT_EQ(format_age(-5), "now");
  EXPECT_EQ(format_age(119), "119 s ago");
  EXPECT_EQ(format_age(3600), "60 min ago");
  EXPECT_EQ(format_age(3 * 3600 + 5), "3 h ago");
  EXPECT_EQ(format_age(10 * 86'400), "10 d ago");
  EXPECT_EQ(format_count({1, 4096}), "1 file, 4.00 KiB");
  EXPECT_EQ(printable("a\x1b[2Jb\xc2\x9b"), "a?[2Jb?");
}

class CacheCommandTest : public ::testing::Test {
 protected:
  CacheCommandTest() {
    system = store.add({.session = keyed}, {}, 1);
    first = store.add({.session = keyed}, system, 2);
    second = store.add({.session = session_of(2)}, system, 3);
  }
  CacheAnswer run(Words words) {
    words.insert(words.end(), {"--store-dir", "/store"});
    return run_cache(parse(words), {.fs = fs, .clock = clock, .catalog = false});
  }
  json run_json(Words words) {
    words.emplace_back("--json");
    const CacheAnswer answer = run(words);
    EXPECT_EQ(answer.code, 0) << answer.error;
    return json::parse(answer.text);
  }
  std::size_t files() { return run_json({"ls", "--entries"})["entries"].size(); }

  FakeClock clock;
  SimFs fs{clock};
  SmallStore store{fs, "/store"};
  const SessionId keyed = session_of_key("agent");
  SmallStore::Node system, first, second;
};

TEST_F(CacheCommandTest, LsShowsSessionsOrFiles) {
  clock.advance(3 * 3600 * kSecond);
  const CacheAnswer answer = run({"ls"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.text.find(keyed.hex().substr(0, 12)), std::string::npos);
  EXPECT_NE(answer.text.find("3 h ago"), std::string::npos);
  EXPECT_NE(answer.text.find("2 sessions, 6 files"), std::string::npos) << answer.text;
  const json sessions = run_json({"ls"})["sessions"];
  ASSERT_EQ(sessions.size(), 2U);
  for (const json& session : sessions) {
    if (session["id"] != keyed.hex()) continue;
    EXPECT_EQ(session["tokens"], 20);
    EXPECT_EQ(session["snapshots"], 2);
    EXPECT_EQ(session["pinned"], false);
  }
  EXPECT_EQ(files(), 6U);
  EXPECT_EQ(run_json({"ls", "--model", "tiny"})["sessions"].size(), 2U);
  EXPECT_EQ(run({"ls", "--model", "other"}).code, 1);
}

TEST_F(CacheCommandTest, AnEmptyStoreIsAnEmptyTableAndNoStoreAnError) {
  fs.remove_tree("/store");
  const CacheAnswer none = run({"ls"});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.error.find("there is no store in /store"), std::string::npos);
  ASSERT_TRUE(fs.make_directory("/store"));
  EXPECT_NE(run({"ls"}).text.find("0 sessions, 0 files"), std::string::npos);
  EXPECT_EQ(run({"stats"}).code, 0);
}

TEST_F(CacheCommandTest, StatsAddUp) {
  fs.write_raw("/store/quarantine/x", std::vector<std::uint8_t>(10));
  const json stats = run_json({"stats"});
  EXPECT_EQ(stats["files"], 6);
  EXPECT_EQ(stats["sessions"], 2);
  EXPECT_EQ(stats["models"].size(), 1U);
  EXPECT_EQ(stats["quarantine"]["files"], 1);
  EXPECT_EQ(stats["unreachable"]["files"], 0);
  EXPECT_NE(run({"stats"}).text.find("quarantine"), std::string::npos);
}

TEST_F(CacheCommandTest, BesideAServerReadingWorksAndChangingDoesNot) {
  const auto server = fs.lock("/store/lock", "process 77");
  for (const Words& words : std::vector<Words>{{"ls"},
                                               {"ls", "--entries"},
                                               {"stats"},
                                               {"verify"},
                                               {"export", keyed.hex(), "/file"},
                                               {"gc", "--dry-run"},
                                               {"rm", keyed.hex(), "--dry-run"}}) {
    EXPECT_EQ(run(words).code, 0) << words[0];
  }
  for (const Words& words : std::vector<Words>{{"verify", "--repair"},
                                               {"rebuild"},
                                               {"gc"},
                                               {"pin", keyed.hex()},
                                               {"unpin", keyed.hex()},
                                               {"rm", keyed.hex()},
                                               {"purge", "--all"},
                                               {"import", "/file"}}) {
    const CacheAnswer answer = run(words);
    EXPECT_EQ(answer.code, 1) << words[0];
    EXPECT_NE(answer.error.find("process 77 owns the store in /store. Stop the server"),
              std::string::npos)
        << answer.error;
  }
  EXPECT_EQ(files(), 6U);
}

TEST_F(CacheCommandTest, VerifyFailsIfAFileIsBad) {
  EXPECT_EQ(run({"verify"}).code, 0);
  fs.truncate(store.path(first), 700);
  const CacheAnswer bad = run({"verify", "--quick"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.text.find(store.path(first)), std::string::npos);
  EXPECT_EQ(run({"verify", "--repair"}).code, 1) << "it was bad";
  EXPECT_EQ(run({"verify"}).code, 0);
  EXPECT_EQ(run_json({"gc"})["unreachable"]["files"], 1);
}

TEST_F(CacheCommandTest, PinsComeAndGo) {
  EXPECT_EQ(run({"pin", keyed.hex().substr(0, 8)}).code, 0);
  EXPECT_EQ(run({"pin", second.identity.hex()}).code, 0);
  EXPECT_EQ(run_json({"stats"})["pinned"]["files"], 6);
  EXPECT_EQ(run({"gc", "--size", "0"}).code, 1) << "everything is pinned";
  EXPECT_EQ(files(), 6U);
  EXPECT_EQ(run({"unpin", keyed.hex()}).code, 0);
  EXPECT_EQ(run({"unpin", system.identity.hex()}).code, 1) << "only what is behind it is pinned";
  EXPECT_EQ(run({"gc", "--size", "0"}).code, 1);
  EXPECT_EQ(files(), 4U);
  EXPECT_EQ(run({"pin", "00000000"}).code, 1);
}

TEST_F(CacheCommandTest, RmTakesWhatStandsOnIt) {
  EXPECT_EQ(run({"rm", system.identity.hex(), "--dry-run"}).code, 0);
  EXPECT_EQ(files(), 6U);
  EXPECT_EQ(run({"rm", first.identity.hex()}).code, 0);
  EXPECT_EQ(files(), 4U);
  const CacheAnswer answer = run({"rm", keyed.hex()});
  EXPECT_NE(answer.text.find("2 files"), std::string::npos) << answer.text;
  EXPECT_NE(answer.text.find("other sessions"), std::string::npos) << answer.text;
  EXPECT_EQ(files(), 0U);
}

TEST_F(CacheCommandTest, PurgeTakesASessionByItsKeyAndLeavesOthersWhole) {
  fs.write_raw("/store/quarantine/x", std::vector<std::uint8_t>(10));
  const json report = run_json({"purge", "--session", "agent"});
  EXPECT_EQ(report["removed"]["files"], 3) << "its snapshots, and its own segment";
  EXPECT_EQ(report["kept"]["files"], 1) << "the system prompt's segment";
  EXPECT_EQ(files(), 3U);
  EXPECT_EQ(run({"verify"}).code, 0);
  EXPECT_EQ(run_json({"stats"})["unreachable"]["files"], 0);
  EXPECT_EQ(run_json({"stats"})["quarantine"]["files"], 0) << "it may have been the session's";
  EXPECT_EQ(run({"purge", "--session", "nobody"}).code, 1);
}

TEST_F(CacheCommandTest, PurgeTakesAModelOrEverything) {
  store.add({.model = model_named('o'), .session = session_of(3), .label = "other"}, {}, 9);
  EXPECT_EQ(run_json({"purge", "--model", "tiny"})["removed"]["files"], 6);
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(run_json({"purge", "--all", "--dry-run"})["removed"]["files"], 2);
  EXPECT_EQ(run_json({"purge", "--all"})["removed"]["files"], 2);
  EXPECT_EQ(files(), 0U);
}

TEST_F(CacheCommandTest, ASessionTravels) {
  ASSERT_EQ(run({"export", keyed.hex(), "/file"}).code, 0);
  ASSERT_EQ(run({"purge", "--all"}).code, 0);
  const CacheAnswer answer = run({"import", "/file"});
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_NE(answer.text.find("model tiny"), std::string::npos);
  EXPECT_NE(answer.text.find("same fingerprint"), std::string::npos);
  EXPECT_EQ(files(), 4U);
  EXPECT_EQ(run_json({"import", "/file"})["there_before"], 4);
  fs.truncate("/file", 5000);
  const CacheAnswer cut = run({"import", "/file"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.error.find("cut off"), std::string::npos) << cut.error;
}

// With the machine's file system and SQLite.
TEST(CacheCommand, RebuildMakesTheCatalogFromTheFiles) {
  const testing::TemporaryFolder root;
  PosixFs fs;
  SmallStore store(fs, root.path());
  const auto first = store.add({}, {}, 1);
  store.add({}, first, 2);
  const auto run = [&](Words words) {
    words.insert(words.end(), {"--store-dir", root.path(), "--json"});
    const CacheAnswer answer = run_cache(parse(words), {fs, system_clock()});
    EXPECT_EQ(answer.code, 0) << answer.error;
    return json::parse(answer.text);
  };
  EXPECT_EQ(run({"rebuild"})["entries"], 4);
  EXPECT_EQ(run({"ls"})["from_catalog"], true);
  EXPECT_EQ(run({"rm", first.identity.hex()})["removed"]["files"], 4);
  EXPECT_EQ(run({"ls", "--entries"})["entries"].size(), 0U);
  EXPECT_EQ(run({"purge", "--all"})["removed"]["files"], 0);
}

}  // namespace
}  // namespace samovar::app
