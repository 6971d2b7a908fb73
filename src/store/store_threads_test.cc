// Goal: the store works with real threads on the machine's own file system, with its catalog.
// Method: a folder in the temporary one; writers, readers and a restart, nothing timed.
#include <algorithm>
#include <condition_variable>

#include <filesystem>
#include <mutex>

#include "fs/posix_fs.h"
#include "store/store.h"
#include "tests/support/store_records.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

using namespace testing;
using State = StoreRestore::State;

constexpr Micros kLong = 60 * kSecond;
constexpr Position kSegment = 100;
constexpr std::size_t kTokenBytes = 1000;

class StoreThreadsTest : public ::testing::Test {
 protected:
  StoreThreadsTest() {
    options.folder = folder.at("store");
    options.size_max = std::uint64_t{1} << 30;
    options.buffer_bytes = std::size_t{4} << 20;
    options.model = model_named('m');
    options.needs_snapshot = true;
  }
  ~StoreThreadsTest() override { close(); }

  void open() {
    writer = std::make_unique<ThreadPool>(1, "store-writer");
    readers = std::make_unique<ThreadPool>(3, "store-reader");
    catalog = std::make_unique<ThreadPool>(1, "store-catalog");
    auto opened = Store::open(fs, system_clock(), options, {*writer, *readers, *catalog});
    ASSERT_TRUE(opened) << opened.error().describe();
    store = std::move(*opened);
    ASSERT_TRUE(store->wait_ready(kLong));
  }
  void close() {
    if (!store) return;
    EXPECT_TRUE(store->drain(kLong));
    store->close();
    for (auto* pool : {&readers, &writer, &catalog}) (*pool)->stop();
    store.reset();
  }

  static Tokens tokens_of(int talk) { return random_tokens(static_cast<std::uint32_t>(talk), 400); }
  static std::vector<std::uint8_t> bytes_of(int talk, Position end) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(kSegment) * kTokenBytes);
    std::mt19937 random(static_cast<std::uint32_t>(talk * 1000 + end));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
  }

  void write(int talk) {
    const Tokens tokens = tokens_of(talk);
    const StoreOrigin origin{
        .session = session_of(talk), .cost = 5, .canonical = true, .urgent = true};
    Identity node;
    for (Position begin = 0; begin < 300; begin += kSegment) {
      const auto bytes = bytes_of(talk, begin + kSegment);
      auto buffer = store->buffer(bytes.size());
      while (!buffer) {  // the writer gives some back
        store->drain(kMillisecond);
        buffer = store->buffer(bytes.size());
      }
      std::copy(bytes.begin(), bytes.end(), buffer->writable().begin());
      const auto made = store->write_segment(
          node, begin, TokenSpan(tokens).subspan(static_cast<std::size_t>(begin), kSegment),
          std::move(*buffer), origin);
      ASSERT_TRUE(made);
      node = *made;
    }
    auto state = std::make_shared<std::vector<std::uint8_t>>(bytes_of(talk, 0));
    const Bytes bytes = *state;
    bool taken = false;
    for (int tries = 0; !taken && tries < 10'000; ++tries) {  // so many may be queued at once
      if (tries > 0) store->drain(kMillisecond);
      taken = store->write_snapshot(node, TokenSpan(tokens).first(300), state, bytes,
                                    AnchorKind::history_end, origin);
    }
    ASSERT_TRUE(taken);
  }

  void restore(int talk) {
    const Tokens tokens = tokens_of(talk);
    auto chain = store->longest(tokens, 400);
    ASSERT_TRUE(chain) << "talk " << talk;
    const auto restore = store->restore(std::move(*chain), tokens);
    std::mutex mutex;
    while (restore->state() != State::done) {
      ASSERT_NE(restore->state(), State::failed) << restore->error();
      if (restore->state() == State::waiting) {
        std::unique_lock lock(mutex);
        came.wait_for(lock, std::chrono::milliseconds(1));
        continue;
      }
      const RestoredPart part = restore->take();
      EXPECT_TRUE(
          std::ranges::equal(part.bytes.bytes(), bytes_of(talk, part.snapshot ? 0 : part.end)));
    }
    restore->succeeded();
  }

  PosixFs fs;
  TemporaryFolder folder;
  StoreOptions options;
  std::condition_variable came;
  std::unique_ptr<ThreadPool> writer;
  std::unique_ptr<ThreadPool> readers;
  std::unique_ptr<ThreadPool> catalog;
  std::unique_ptr<Store> store;
};

TEST_F(StoreThreadsTest, WriteCloseReopenFind) {
  constexpr int kTalks = 20;
  open();
  store->set_wake([this] { came.notify_all(); });
  for (int talk = 1; talk <= kTalks; ++talk) write(talk);
  ASSERT_TRUE(store->drain(kLong));
  for (int talk = 1; talk <= kTalks; ++talk) restore(talk);
  close();

  open();
  EXPECT_EQ(store->stats().entries, kTalks * 4U);
  for (int talk = 1; talk <= kTalks; ++talk) restore(talk);
  close();

  for (const char* file : {"catalog.db", "catalog.db-wal", "catalog.db-shm"}) {
    std::filesystem::remove(options.folder + "/" + file);
  }
  open();
  EXPECT_EQ(store->stats().entries, kTalks * 4U) << "made again from the files";
  for (int talk = 1; talk <= kTalks; ++talk) restore(talk);
}

TEST_F(StoreThreadsTest, WritesAndRestoresAtTheSameTimeWithinASmallBudget) {
  options.size_max = 9 << 20;  // a dozen talks, and the catalog with its log
  open();
  for (int talk = 1; talk <= 40; ++talk) {
    write(talk);
    if (talk % 5 != 0) continue;
    ASSERT_TRUE(store->drain(kLong));
    restore(talk);
    store->tend();
  }
  ASSERT_TRUE(store->drain(kLong));
  EXPECT_GT(store->stats().evicted, 0U);
  EXPECT_LE(store->stats().bytes, options.size_max);
}

TEST_F(StoreThreadsTest, WhatWasEvictedIsRememberedOverARestart) {
  options.size_max = 9 << 20;
  open();
  const auto evicted = [&](int talk) { return store->evicted(tokens_of(talk), 400); };
  int talk = 0;
  while (store->stats().evicted == 0 && talk < 100) {
    write(++talk);
    ASSERT_TRUE(store->drain(kLong));
  }
  std::vector<int> gone;
  for (int i = 1; i <= talk; ++i) {
    if (!store->longest(tokens_of(i), 400)) gone.push_back(i);
  }
  ASSERT_FALSE(gone.empty());
  for (const int i : gone) EXPECT_EQ(evicted(i), 300) << i;
  close();
  open();
  for (const int i : gone) EXPECT_EQ(evicted(i), 300) << i;
  EXPECT_EQ(evicted(talk), 0);
  EXPECT_EQ(evicted(1000), 0);
}

TEST_F(StoreThreadsTest, TheDaysWritesAreRememberedOverARestart) {
  options.writes_per_day = std::uint64_t{1} << 40;
  open();
  write(1);
  ASSERT_TRUE(store->drain(kLong));
  const std::uint64_t today = store->stats().bytes_written_today;
  EXPECT_GT(today, 0U);
  close();
  open();
  EXPECT_EQ(store->stats().bytes_written_today, today);
}

}  // namespace
}  // namespace samovar
