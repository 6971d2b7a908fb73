// The store when its disk misbehaves: the server serves on, says what is wrong, and writes again
// when it can.
#include <sys/mount.h>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/stored_files.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

namespace stdfs = std::filesystem;

ServerProcess::Words with_store(const std::string& folder, const std::string& size = "200M") {
  return {"-c",           "8192", "-np",           "1",   "--store-dir",    folder,
          "--store-size", size,   "--store-quiet", "0.1", "--store-window", "1"};
}

// Asks for a conversation of its own; the reply's text.
Reply talk(const ServerProcess& server, unsigned seed, int words = 300) {
  Reply reply = chat(server.port(), request({message("user", prose(words, seed))}, 6));
  EXPECT_EQ(reply.status, 200) << reply.json;
  return reply;
}

// A session that is written, and goes on: the messages of its second turn.
Json second_turn(unsigned seed) {
  return {message("user", prose(300, seed)), message("assistant", "Well, " + prose(40, seed + 1)),
          message("user", "Go on.")};
}

bool written(const StoredFiles& files) {
  return !files.named(".snap").empty() && files.named(".tmp").empty();
}

// Goal: a folder that is removed while the server runs costs what was in it, and is made again.
TEST(StoreFaults, FolderRemovedWhileRunning) {
  const TemporaryFolder parent;
  const std::string folder = parent.path() + "/store";
  const StoredFiles files(folder);
  ServerProcess server(with_store(folder));
  talk(server, 1);
  ASSERT_TRUE(eventually([&] { return written(files); }));
  stdfs::remove_all(folder);
  talk(server, 2);
  EXPECT_TRUE(eventually([&] { return server.has("sessions stay in memory only"); }));
  EXPECT_TRUE(eventually([&] { return written(files); })) << "not made again";
  EXPECT_TRUE(eventually([&] { return server.has("store: writes again"); }));
  const ServerProcess second(with_store(folder), "tiny-qwen35moe", ServerProcess::Expect::refusal);
  talk(server, 3);
  ASSERT_EQ(server.end(), 0);
  EXPECT_EQ(files.faults(), std::vector<std::string>{});
  const ServerProcess next(with_store(folder));
  for (unsigned seed : {1U, 2U, 3U}) {
    EXPECT_EQ(talk(next, seed).json["timings"]["source"], "store") << seed;
  }
}

// Goal: a folder that cannot be made does not keep the server from serving, and is used once it
// can be made. Method: a file where its parent should be (this stops root as well).
TEST(StoreFaults, FolderThatCannotBeMade) {
  const TemporaryFolder parent;
  const std::string obstacle = parent.path() + "/file";
  std::ofstream(obstacle) << "in the way";
  ServerProcess server(with_store(obstacle + "/store"));
  EXPECT_TRUE(server.has("sessions stay in memory only")) << server.output();
  EXPECT_TRUE(server.has(obstacle)) << server.output();
  talk(server, 1);
  stdfs::remove(obstacle);
  EXPECT_TRUE(eventually([&] { return server.has("store: writes again"); }));
  const StoredFiles files(obstacle + "/store");
  EXPECT_TRUE(eventually([&] { return written(files); })) << "the session that waited";
  EXPECT_EQ(server.end(), 0);
}

// Goal: one server owns a folder; the next one says who does, and what to do.
TEST(StoreFaults, SecondServerOnOneFolderIsRefused) {
  const TemporaryFolder folder;
  ServerProcess first(with_store(folder.path()));
  ServerProcess second(with_store(folder.path()), "tiny-qwen3", ServerProcess::Expect::refusal);
  EXPECT_EQ(second.exit_code(), 1);
  const std::string said = second.output();
  EXPECT_NE(said.find("process " + std::to_string(first.pid())), std::string::npos) << said;
  EXPECT_NE(said.find("--no-store"), std::string::npos) << said;
  EXPECT_NE(said.find(folder.path()), std::string::npos) << said;
  talk(first, 1);
  EXPECT_EQ(first.end(), 0);
  const ServerProcess third(with_store(folder.path()), "tiny-qwen3");
}

// Goal: a full disk is survived, said, and over once there is space. Method: a file system of
// 8 MiB, most of it taken by something else.
TEST(StoreFaults, FullDisk) {
  const TemporaryFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=8m") != 0) {
    GTEST_SKIP() << "a file system of its own cannot be mounted here (needs root)";
  }
  {
    const std::string ballast = folder.path() + "/ballast";
    std::ofstream(ballast) << std::string((8 << 20) - (200 << 10), 'x');
    const StoredFiles files(folder.path() + "/store");
    ServerProcess server(with_store(folder.path() + "/store"));
    talk(server, 1);
    talk(server, 2);
    EXPECT_TRUE(eventually([&] { return server.has("No space left on device"); }));
    talk(server, 3);
    stdfs::remove(ballast);
    EXPECT_TRUE(eventually([&] { return server.has("store: writes again"); }));
    EXPECT_TRUE(eventually([&] { return written(files); }));
    EXPECT_EQ(server.end(), 0);
    EXPECT_EQ(files.faults(), std::vector<std::string>{});
    EXPECT_EQ(files.named(".tmp"), std::vector<std::string>{});
  }
  EXPECT_EQ(::umount(folder.path().c_str()), 0);
}

// Goal: a byte that went wrong on the disk never reaches a reply. Method: one is flipped in each
// segment, then in each snapshot of a session; the turn is the one of a server without store.
TEST(StoreFaults, FlippedByte) {
  const Json body = request(second_turn(5), 8);
  std::string expected;
  {
    const ServerProcess server({"-c", "8192", "-np", "1"});
    talk(server, 5);
    expected = chat(server.port(), body).text();
  }
  for (const char* kind : {".seg", ".snap"}) {
    SCOPED_TRACE(kind);
    const TemporaryFolder folder;
    const StoredFiles files(folder.path());
    {
      ServerProcess server(with_store(folder.path()));
      talk(server, 5);
      ASSERT_EQ(server.end(), 0);
    }
    std::string name;
    for (const std::string& path : files.named(kind)) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(-100, std::ios::end);
      const auto at = file.tellg();
      const auto byte = static_cast<char>(file.get() ^ 0x10);
      file.seekp(at);
      file.put(byte);
      name = stdfs::path(path).filename();
    }
    ASSERT_FALSE(name.empty());
    ServerProcess server(with_store(folder.path()));
    const Reply reply = chat(server.port(), body);
    ASSERT_EQ(reply.status, 200) << reply.json;
    EXPECT_EQ(reply.text(), expected);
    ASSERT_FALSE(files.quarantined().empty());
    const std::string bad = stdfs::path(files.quarantined()[0]).filename();
    EXPECT_TRUE(server.has(bad)) << server.output();
    EXPECT_TRUE(bad.ends_with(kind)) << bad;
    EXPECT_EQ(server.end(), 0);
  }
}

// Goal: --no-store leaves nothing on the disk. Method: a home of its own.
TEST(StoreFaults, NoStoreLeavesNoFolder) {
  const TemporaryFolder home;
  ::setenv("XDG_CACHE_HOME", home.path().c_str(), 1);
  {
    ServerProcess server({"-c", "2048"});
    talk(server, 1, 200);
    EXPECT_EQ(server.end(), 0);
    EXPECT_FALSE(server.has("store:")) << server.output();
  }
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(stdfs::is_empty(home.path()));
}

// Goal: models share a folder and never each other's bytes; a model comes back to its own. Nobody
// else may read any of it.
TEST(StoreFaults, SeveralModelsInOneFolder) {
  const TemporaryFolder folder;
  for (const bool again : {false, true}) {
    for (const char* model : {"tiny-qwen35moe", "tiny-qwen3", "tiny-granitehybrid"}) {
      SCOPED_TRACE(model);
      ServerProcess server(with_store(folder.path()), model);
      const Reply reply = talk(server, 7);
      EXPECT_EQ(reply.json["timings"]["source"], again ? "store" : "none");
      ASSERT_EQ(server.end(), 0);
    }
  }
  for (const auto& entry : stdfs::recursive_directory_iterator(folder.path())) {
    EXPECT_EQ(entry.status().permissions() & (stdfs::perms::group_all | stdfs::perms::others_all),
              stdfs::perms::none)
        << entry.path();
  }
  int folders = 0;
  for (const auto& entry : stdfs::directory_iterator(folder.path())) {
    folders += entry.is_directory() && entry.path().filename() != "quarantine" ? 1 : 0;
  }
  EXPECT_EQ(folders, 3);
  EXPECT_EQ(StoredFiles(folder.path()).faults(), std::vector<std::string>{});
}

}  // namespace
}  // namespace samovar::testing
