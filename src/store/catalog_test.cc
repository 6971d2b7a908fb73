// Goal: the catalog brings back what was put into it, and whatever becomes of its files it loads
// sane records or begins anew; it never fails because of them. Method: temporary folders on the
// machine's file system, since SQLite opens its own files.
#include "store/catalog.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "fs/sqlite.h"
#include "tests/support/store_records.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

namespace stdfs = std::filesystem;
using namespace testing;

std::vector<BlobRecord> some_records(std::size_t count) {
  std::vector<BlobRecord> records;
  Identity parent;
  std::mt19937 random(7);
  const Tokens tokens = random_tokens(1, 4 * count + 4);
  for (std::size_t i = 0; i < count; i += 2) {
    const auto begin = static_cast<Position>(4 * i);
    records.push_back(segment_of(model_named('m'), parent, tokens, begin, begin + 8));
    records.back().uses = random();
    records.back().label = "a model";
    parent = records.back().identity;
    records.push_back(snapshot_of(records.back(),
                                  i % 4 == 0 ? AnchorKind::reply_end : AnchorKind::divergence,
                                  session_of(3)));
    records.back().canonical = true;
  }
  return records;
}

std::vector<BlobRecord> sorted(std::vector<BlobRecord> records) {
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  return records;
}

class CatalogTest : public ::testing::Test {
 protected:
  bool open() {
    catalog.reset();
    auto opened = Catalog::open(path);
    EXPECT_TRUE(opened) << opened.error().describe();
    if (opened) catalog = std::move(*opened);
    return opened.has_value();
  }
  std::vector<BlobRecord> load() {
    auto loaded = catalog->load();
    EXPECT_TRUE(loaded) << loaded.error().describe();
    return loaded ? sorted(*loaded) : std::vector<BlobRecord>{};
  }
  void fill(const std::vector<BlobRecord>& records) {
    ASSERT_TRUE(open());
    ASSERT_TRUE(catalog->apply({.put = records, .erased = {}, .used = {}}));
  }
  std::string bytes() {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }

  // Whatever the files are now: a catalog opens, gives records of those that were put or at least
  // possible ones, and takes new ones.
  void expect_works() {
    ASSERT_TRUE(open());
    for (const BlobRecord& record : load()) ASSERT_TRUE(possible(record));
    const BlobRecord fresh = some_records(2)[0];
    const auto take = [&] {
      EXPECT_TRUE(catalog->apply({.put = {fresh}, .erased = {}, .used = {{key_of(fresh), kNow}}}));
      EXPECT_TRUE(catalog->set_number("written", 5));
      const auto records = load();
      return catalog->number("written") == 5 &&
             std::any_of(records.begin(), records.end(),
                         [&](const BlobRecord& record) { return key_of(record) == key_of(fresh); });
    };
    // Writing may bring damage to light that reading did not meet.
    const bool taken = take();
    EXPECT_TRUE(taken || catalog->recreated());
    EXPECT_TRUE(taken || take());
  }

  TemporaryFolder folder = TemporaryFolder::in_memory();  // syncing is SQLite's business
  std::string path = folder.at("catalog.db");
  std::unique_ptr<Catalog> catalog;
};

TEST_F(CatalogTest, ANewOneIsEmptyAndNotRecreated) {
  ASSERT_TRUE(open());
  EXPECT_FALSE(catalog->recreated());
  EXPECT_TRUE(load().empty());
  EXPECT_EQ(catalog->number("written"), 0);
  EXPECT_GT(catalog->bytes(), 0U);
  EXPECT_TRUE(catalog->apply({}));
}

TEST_F(CatalogTest, EveryFieldComesBackAfterARestart) {
  const auto records = some_records(20);
  fill(records);
  ASSERT_TRUE(open());
  EXPECT_FALSE(catalog->recreated());
  EXPECT_EQ(load(), sorted(records));
}

TEST_F(CatalogTest, ChangesAreAppliedTogether) {
  auto records = some_records(4);
  fill(records);
  BlobRecord changed = records[0];
  changed.label = "another";
  ASSERT_TRUE(catalog->apply({.put = {changed},
                              .erased = {key_of(records[1]), key_of(records[1])},
                              .used = {{key_of(records[2]), kNow + 5},
                                       {key_of(records[2]), kNow},
                                       {key_of(records[1]), kNow}}}));
  records[0] = changed;
  records[2].last_used = kNow + 5;
  records[2].uses += 2;
  records.erase(records.begin() + 1);
  EXPECT_EQ(load(), sorted(records));
}

TEST_F(CatalogTest, UsesStopAtTheirMost) {
  auto records = some_records(2);
  records[0].uses = std::numeric_limits<std::uint32_t>::max();
  fill(records);
  ASSERT_TRUE(catalog->apply({.put = {}, .erased = {}, .used = {{key_of(records[0]), kNow}}}));
  const auto loaded = load();
  ASSERT_EQ(loaded.size(), 2U) << "a row beyond the most would be left out";
}

TEST_F(CatalogTest, NumbersOutliveRestarts) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(catalog->set_number("written", 1));
  ASSERT_TRUE(catalog->set_number("written", std::numeric_limits<std::int64_t>::min()));
  ASSERT_TRUE(catalog->set_number("a'; DROP TABLE numbers; --", 7));
  ASSERT_TRUE(open());
  EXPECT_EQ(catalog->number("written"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(catalog->number("a'; DROP TABLE numbers; --"), 7);
}

TEST_F(CatalogTest, FilesAreTheirOwnersAloneWhateverTheUmask) {
  const mode_t before = ::umask(0);
  fill(some_records(4));
  ::umask(before);
  int files = 0;
  for (const auto& entry : stdfs::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.status().permissions(), stdfs::perms::owner_read | stdfs::perms::owner_write)
        << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 3) << "with -wal and -shm";
}

TEST_F(CatalogTest, BytesCountTheLogToo) {
  fill(some_records(200));
  std::uint64_t bytes_of_files = 0;
  for (const auto& entry : stdfs::directory_iterator(folder.path())) {
    bytes_of_files += on_disk(entry.file_size());
  }
  EXPECT_EQ(catalog->bytes(), bytes_of_files);
}

TEST_F(CatalogTest, AFolderThatIsNotThereIsAnError) {
  const auto opened = Catalog::open(folder.at("none/catalog.db"));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("/none/catalog.db"), std::string::npos);
}

TEST_F(CatalogTest, AFolderInItsPlaceIsAnErrorAndStays) {
  ASSERT_TRUE(stdfs::create_directory(path));
  EXPECT_FALSE(Catalog::open(path));
  EXPECT_TRUE(stdfs::is_directory(path));
}

TEST_F(CatalogTest, GarbageIsReplaced) {
  std::mt19937 random(1);
  for (const std::size_t size : {1U, 15U, 99U, 100U, 512U, 4096U, 50'000U}) {
    std::string garbage(size, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    replace(garbage);
    ASSERT_TRUE(open());
    EXPECT_TRUE(catalog->recreated() || size == 1) << size;  // SQLite calls one byte empty
    expect_works();
  }
}

TEST_F(CatalogTest, AnEmptyFileIsANewCatalog) {
  replace("");
  expect_works();
}

TEST_F(CatalogTest, AnotherVersionIsReplaced) {
  fill(some_records(10));
  catalog.reset();
  std::string content = bytes();
  content[63] = 42;  // the last byte of user_version in SQLite's header
  replace(content);
  ASSERT_TRUE(open());
  EXPECT_TRUE(catalog->recreated());
  expect_works();
}

TEST_F(CatalogTest, OneThatKnewNoEvictionsIsGoneOnWith) {
  const auto records = some_records(10);
  fill(records);
  catalog.reset();
  sqlite::Connection database;
  ASSERT_EQ(database.open(path, 1 << 16), sqlite::kOk);
  ASSERT_EQ(database.execute("DROP TABLE evicted;PRAGMA user_version=1"), sqlite::kOk);
  database.close();
  ASSERT_TRUE(open());
  EXPECT_FALSE(catalog->recreated());
  EXPECT_EQ(load(), sorted(records));
  const EvictedBlob gone = evicted_blob(records[3]);
  ASSERT_TRUE(catalog->apply({.put = {}, .erased = {}, .used = {}, .evicted = {gone}}));
  ASSERT_TRUE(open());
  EXPECT_EQ(catalog->evicted(), std::vector{gone});
}

TEST_F(CatalogTest, RemembersTheLastEvictions) {
  ASSERT_TRUE(open());
  EXPECT_TRUE(catalog->evicted().empty());
  const auto records = some_records(20);
  std::vector<EvictedBlob> gone;
  for (const BlobRecord& record : records) gone.push_back(evicted_blob(record));
  ASSERT_TRUE(catalog->apply({.put = {}, .erased = {}, .used = {}, .evicted = gone}));
  ASSERT_TRUE(open());
  EXPECT_EQ(catalog->evicted(), gone);
  std::vector<EvictedBlob> many(EvictedChains::kMost - 5, evicted_blob(records[0]));
  ASSERT_TRUE(catalog->apply({.put = {}, .erased = {}, .used = {}, .evicted = many}));
  const auto last = catalog->evicted();
  ASSERT_EQ(last.size(), EvictedChains::kMost);
  EXPECT_EQ(last[0], gone[gone.size() - 5]) << "the oldest went";
}

TEST_F(CatalogTest, OtherTablesAreReplaced) {
  fill(some_records(10));
  catalog.reset();
  std::string content = bytes();
  const std::size_t at = content.find("last_used INTEGER");
  ASSERT_NE(at, std::string::npos);
  content[at] = 'L';
  replace(content);
  ASSERT_TRUE(open());
  EXPECT_TRUE(catalog->recreated());
  expect_works();
}

TEST_F(CatalogTest, ATruncatedOneLoadsSaneRecordsOrBeginsAnew) {
  fill(some_records(400));
  catalog.reset();
  const std::string whole = bytes();
  std::mt19937 random(1);
  std::vector<std::size_t> sizes = {1, 50, 99, 100, 1000, 4095, 4096, 4097, 8192};
  for (int i = 0; i < 20; ++i) sizes.push_back(random() % whole.size());
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    catalog.reset();
    replace(whole.substr(0, size));
    expect_works();
  }
}

TEST_F(CatalogTest, FlippedBytesLoadSaneRecordsOrBeginAnew) {
  fill(some_records(200));
  catalog.reset();
  const std::string whole = bytes();
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    std::string content = whole;
    // A few anywhere, or many in the structure of one page.
    const bool spread = round % 2 == 0;
    const std::size_t page = random() % (whole.size() / 4096) * 4096;
    for (int i = 0; i < 8; ++i) {
      const std::size_t at = spread ? random() % whole.size() : page + random() % 40;
      content[at] = static_cast<char>(random());
    }
    catalog.reset();
    replace(content);
    expect_works();
  }
}

TEST_F(CatalogTest, DamageThatShowsOnlyWhenReadingIsMended) {
  fill(some_records(2000));
  catalog.reset();
  std::string content = bytes();
  for (std::size_t page = 4 * 4096; page < content.size(); page += 4096) content[page] = 77;
  replace(content);
  ASSERT_TRUE(open());
  EXPECT_FALSE(catalog->recreated());
  EXPECT_TRUE(load().empty());
  EXPECT_TRUE(catalog->recreated());
  expect_works();
}

TEST_F(CatalogTest, DamageThatShowsWhenWritingIsMended) {
  const auto records = some_records(2000);
  fill(records);
  catalog.reset();
  std::string content = bytes();
  for (std::size_t page = 4 * 4096; page < content.size(); page += 4096) content[page] = 77;
  replace(content);
  ASSERT_TRUE(open());
  EXPECT_TRUE(catalog->apply({.put = {records[5]}, .erased = {}, .used = {}}));
  EXPECT_TRUE(catalog->recreated());
  EXPECT_EQ(load(), (std::vector<BlobRecord>{records[5]}));
}

TEST_F(CatalogTest, RowsThatMakeNoSenseAreLeftOut) {
  auto records = some_records(12);
  const auto good = std::vector<BlobRecord>(records.begin() + 10, records.end());
  records[0].end = records[0].begin;
  records[1].begin = -1;
  records[2].identity = {};
  records[3].parent = {};
  records[4].payload_bytes = kBlobPayloadMax + 1;
  records[5].file_bytes = records[5].payload_bytes - 1;
  records[6].anchor = static_cast<AnchorKind>(7);
  records[7].cost = -1;
  records[8].last_used = -1;
  records[9].label = std::string(kBlobLabelMax + 1, 'x');
  fill(records);
  EXPECT_EQ(load(), sorted(good));
  EXPECT_FALSE(catalog->recreated());
}

TEST_F(CatalogTest, LosingTheLogLosesAtMostWhatWasInIt) {
  const auto records = some_records(10);
  fill(records);
  // As after a power cut: the database without its log, and the log of another.
  const std::string copy = folder.at("copy.db");
  stdfs::copy_file(path, copy);
  catalog.reset();
  stdfs::rename(copy, path);
  expect_works();
  catalog.reset();
  std::mt19937 random(1);
  std::string garbage(5000, '\0');
  for (char& byte : garbage) byte = static_cast<char>(random());
  for (const char* beside : {"-wal", "-shm", "-journal"}) {
    std::ofstream(path + beside, std::ios::binary) << garbage;
  }
  expect_works();
}

TEST_F(CatalogTest, ATornLogLoadsSaneRecords) {
  fill(some_records(100));
  const std::string saved = folder.at("saved");
  stdfs::copy_file(path, saved + ".db");
  stdfs::copy_file(path + "-wal", saved + ".wal");
  catalog.reset();
  const std::uintmax_t size = stdfs::file_size(saved + ".wal");
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    catalog.reset();
    stdfs::copy_file(saved + ".db", path, stdfs::copy_options::overwrite_existing);
    stdfs::copy_file(saved + ".wal", path + "-wal", stdfs::copy_options::overwrite_existing);
    if (round % 2 == 0) {
      stdfs::resize_file(path + "-wal", random() % size);
    } else {
      std::fstream wal(path + "-wal", std::ios::binary | std::ios::in | std::ios::out);
      wal.seekp(static_cast<std::streamoff>(random() % size));
      wal.put(static_cast<char>(random()));
    }
    expect_works();
  }
}

TEST_F(CatalogTest, OneThatIsStillThereAfterItsFilesWereDeletedHarmsNothing) {
  fill(some_records(10));
  for (const char* name : {"", "-wal", "-shm"}) stdfs::remove(path + name);
  (void)catalog->apply({.put = some_records(2), .erased = {}, .used = {}});
  (void)catalog->load();
  expect_works();
}

}  // namespace
}  // namespace samovar
