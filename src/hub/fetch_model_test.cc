// Goal: models come from a hub into the shared cache in the ecosystem's layout, once, whatever the
// network, the hub, the disk and other processes do. Method: a hub on this machine that fails as
// ordered, a file system that fails as ordered, real sockets and files.
#include "hub/fetch_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/support/cache_rig.h"
#include "tests/support/fake_hub.h"

namespace samovar::hub {
namespace {

namespace stdfs = std::filesystem;
using samovar::testing::CacheRig;
using samovar::testing::content;
using samovar::testing::ContentFault;
using samovar::testing::FakeHub;
using samovar::testing::hash_of;

constexpr std::size_t kBytes = 700'000;
const std::string kFolder = "models--test--tiny";

class FetchModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    text_ = content(kBytes, 1);
    hub_.put("tiny-Q8_0.gguf", text_);
    hub_.put("mmproj-F16.gguf", content(100, 9));
    hub_.put("README.md", "read me");
    rig_.use(hub_);
  }
  [[nodiscard]] std::string blob() const { return kFolder + "/blobs/" + hash_of(text_); }
  [[nodiscard]] std::string incomplete() const { return blob() + ".incomplete"; }
  void expect_whole(const std::string& path) const {
    EXPECT_EQ(hash_of(CacheRig::read(path)), hash_of(text_)) << path;
    EXPECT_FALSE(rig_.exists(incomplete()));
    EXPECT_FALSE(rig_.exists(incomplete() + ".about"));
  }
  // Its ranges, in order; "" for none.
  std::vector<std::string> ranges() {
    std::vector<std::string> all;
    for (const auto& request : hub_.content_requests()) all.push_back(request.header("Range"));
    return all;
  }

  FakeHub hub_;
  CacheRig rig_;
  std::string text_;
};

using Words = std::vector<std::string>;

TEST_F(FetchModelTest, LayoutIsTheEcosystems) {
  const std::string path = rig_.fetched("test/tiny:q8_0");
  EXPECT_EQ(path, rig_.at(kFolder + "/snapshots/" + hub_.commit() + "/tiny-Q8_0.gguf"));
  expect_whole(path);
  EXPECT_EQ(stdfs::read_symlink(path), "../../blobs/" + hash_of(text_));
  EXPECT_EQ(CacheRig::read(rig_.at(kFolder + "/refs/main")), hub_.commit());
  EXPECT_EQ(rig_.progress.back().done, kBytes);
  EXPECT_EQ(rig_.progress.back().total, kBytes);
  EXPECT_FALSE(rig_.exists(kFolder + "/blobs/" + hash_of(content(100, 9)))) << "a projector";
}

TEST_F(FetchModelTest, SecondTimeDownloadsNothing) {
  const std::string path = rig_.fetched("test/tiny");
  EXPECT_EQ(rig_.fetched("test/tiny"), path);
  EXPECT_EQ(hub_.content_requests().size(), 1U);
}

TEST_F(FetchModelTest, SplitModelComesWholeAndTheFirstPartIsGiven) {
  Words parts;
  for (int part = 1; part <= 3; ++part) {
    parts.push_back("Q4/big-Q4_0-0000" + std::to_string(part) + "-of-00003.gguf");
    hub_.put(parts.back(), content(10'000, 20 + static_cast<std::uint32_t>(part)));
  }
  const std::string first = rig_.fetched("test/tiny:Q4_0");
  EXPECT_TRUE(first.ends_with("/" + parts[0])) << first;
  for (int part = 1; part <= 3; ++part) {
    const std::string path =
        first.substr(0, first.size() - parts[0].size()) + parts[static_cast<std::size_t>(part - 1)];
    EXPECT_EQ(CacheRig::read(path), content(10'000, 20 + static_cast<std::uint32_t>(part)));
  }
  EXPECT_EQ(rig_.progress.back().total, 30'000U);
}

TEST_F(FetchModelTest, NamedFileIsTaken) {
  hub_.put("sub/other.gguf", content(500, 4));
  EXPECT_TRUE(rig_.fetched("test/tiny", "other.gguf").ends_with("/sub/other.gguf"));
}

TEST_F(FetchModelTest, ListOfManyPagesIsReadWhole) {
  for (int i = 0; i < 9; ++i) hub_.put("a" + std::to_string(i) + ".txt", std::to_string(i));
  hub_.set_pages(2);
  expect_whole(rig_.fetched("test/tiny:Q8_0"));
}

TEST_F(FetchModelTest, FileWithoutHashIsTakenByItsLength) {
  FakeHub hub("test/small");
  hub.put_small("small-Q8_0.gguf", content(3'000, 5));
  rig_.use(hub);
  EXPECT_EQ(CacheRig::read(rig_.fetched("test/small")), content(3'000, 5));
}

// --- tokens ---

// Goal: the token goes to the hub and to nobody whom the hub sends us to.
TEST_F(FetchModelTest, TokenStaysWithTheHub) {
  rig_.settings.token = "secret";
  hub_.set_private("secret");
  expect_whole(rig_.fetched("test/tiny"));
  for (const auto& request : hub_.requests()) {
    EXPECT_EQ(request.header("Authorization"), request.storage ? "" : "Bearer secret");
  }
  EXPECT_EQ(hub_.content_requests().size(), 1U);
}

TEST_F(FetchModelTest, TokenIsNotSentInTheOpen) {
  rig_.settings.token = "secret";
  rig_.settings.endpoint = "http://hub.example";
  EXPECT_EQ(rig_.refused("test/tiny").field, "HF_ENDPOINT");
}

TEST_F(FetchModelTest, GatedRepositoryNamesTheTokenAndThePage) {
  hub_.set_gated("secret");
  const Error error = rig_.refused("test/tiny");
  EXPECT_EQ(error.kind, ErrorKind::unauthorized);
  EXPECT_NE(error.message.find("test/tiny is gated"), std::string::npos) << error.describe();
  EXPECT_NE(error.remedy.find("HF_TOKEN"), std::string::npos);
  EXPECT_NE(error.remedy.find(hub_.url() + "/test/tiny"), std::string::npos);
  rig_.settings.token = "secret";
  expect_whole(rig_.fetched("test/tiny"));
}

TEST_F(FetchModelTest, PrivateOrMissingRepositoryIsSaidSo) {
  const Error missing = rig_.refused("test/nothing");
  EXPECT_NE(missing.message.find("test/nothing is gated or private, or does not exist"),
            std::string::npos)
      << missing.describe();
  EXPECT_NE(missing.remedy.find("HF_TOKEN"), std::string::npos);
  rig_.settings.token = "wrong";
  hub_.set_private("right");
  EXPECT_EQ(rig_.refused("test/tiny").field, "HF_TOKEN");
}

TEST_F(FetchModelTest, UnknownQuantListsWhatThereIs) {
  hub_.put("tiny-IQ2_M.gguf", "x");
  const Error error = rig_.refused("test/tiny:Q5_K_M");
  EXPECT_EQ(error.describe(), "test/tiny has no Q5_K_M. There is IQ2_M or Q8_0");
}

TEST_F(FetchModelTest, RepositoryThatIsGoneIsSaidSo) {
  hub_.fail_api(404, 1, "X-Error-Code: RepoNotFound\r\n");
  EXPECT_NE(rig_.refused("test/tiny").message.find("has no test/tiny"), std::string::npos);
}

// --- connections ---

TEST_F(FetchModelTest, BrokenConnectionIsResumed) {
  hub_.fail_content({.drop_after = 200'000});
  hub_.fail_content({.drop_after = 100'000});
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(ranges(), (Words{"", "bytes=200000-", "bytes=300000-"}));
  EXPECT_NE(hub_.content_requests()[1].header("If-Range"), "");
  EXPECT_TRUE(rig_.has_said("again in 1 s"));
}

TEST_F(FetchModelTest, AnotherProcessGoesOnWhereOneStopped) {
  rig_.settings.tries = 1;
  hub_.fail_content({.drop_after = 300'000});
  const Error error = rig_.refused("test/tiny");
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_EQ(stdfs::file_size(rig_.at(incomplete())), 300'000U);
  EXPECT_FALSE(rig_.exists(kFolder + "/refs/main")) << "nothing is published yet";
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(ranges(), (Words{"", "bytes=300000-"}));
  EXPECT_NE(hub_.content_requests()[1].header("If-Range"), "") << "kept by the first process";
}

TEST_F(FetchModelTest, StalledTransferIsBrokenOffAndResumed) {
  hub_.fail_content({.drop_after = 200'000, .stall = true});
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(ranges(), (Words{"", "bytes=200000-"}));
  EXPECT_TRUE(rig_.has_said("stopped sending"));
}

TEST_F(FetchModelTest, ServerThatIgnoresRangesSendsAllAgain) {
  hub_.fail_content({.drop_after = 200'000});
  hub_.fail_content({.ignore_range = true});
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_TRUE(rig_.has_said("from the beginning again"));
}

TEST_F(FetchModelTest, ChangedEtagStartsOver) {
  rig_.settings.tries = 1;
  hub_.fail_content({.drop_after = 200'000});
  rig_.refused("test/tiny");
  hub_.set_etag("\"changed\"");
  rig_.settings.tries = 6;
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(ranges(), (Words{"", "bytes=200000-"})) << "the second answer is the whole";
}

TEST_F(FetchModelTest, ChangedEtagOfAServerWithoutConditionsStartsOver) {
  rig_.settings.tries = 1;
  hub_.fail_content({.drop_after = 200'000});
  rig_.refused("test/tiny");
  hub_.set_etag("\"changed\"");
  hub_.fail_content({.ignore_if_range = true});
  rig_.settings.tries = 6;
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(ranges(), (Words{"", "bytes=200000-", ""}));
  EXPECT_TRUE(rig_.has_said("has changed on the server"));
}

TEST_F(FetchModelTest, BusyServerIsAskedAgainAsItWishes) {
  hub_.fail_api(429, 1, "Retry-After: 7\r\n");
  hub_.fail_content({.status = 503});
  hub_.fail_content({.status = 500});
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(rig_.pauses, (std::vector<Micros>{7 * kSecond, 1 * kSecond, 2 * kSecond}));
}

TEST_F(FetchModelTest, ExpiredAddressOfTheStorageIsAskedForAnew) {
  hub_.fail_content({.status = 403});
  expect_whole(rig_.fetched("test/tiny"));
}

TEST_F(FetchModelTest, ItGivesUpAfterAllTries) {
  rig_.settings.tries = 3;
  hub_.fail_content({.status = 502}, 10);
  EXPECT_EQ(rig_.refused("test/tiny").kind, ErrorKind::unavailable);
  EXPECT_EQ(hub_.content_requests().size(), 3U);
}

// --- bytes ---

TEST_F(FetchModelTest, WrongBytesAreDeletedAndSaidSo) {
  hub_.fail_content({.flip = true});
  const Error error = rig_.refused("test/tiny");
  EXPECT_NE(error.message.find("came damaged and was deleted"), std::string::npos)
      << error.describe();
  EXPECT_FALSE(rig_.exists(blob()));
  EXPECT_FALSE(rig_.exists(incomplete()));
  expect_whole(rig_.fetched("test/tiny"));
}

TEST_F(FetchModelTest, RottenBeginningIsDetected) {
  rig_.settings.tries = 1;
  hub_.fail_content({.drop_after = 300'000});
  rig_.refused("test/tiny");
  std::string half = CacheRig::read(rig_.at(incomplete()));
  half[1'000] = static_cast<char>(half[1'000] ^ 1);
  rig_.write(incomplete(), half);
  EXPECT_NE(rig_.refused("test/tiny").message.find("damaged"), std::string::npos);
  expect_whole(rig_.fetched("test/tiny"));
}

TEST_F(FetchModelTest, MoreBytesThanListedAreRefused) {
  hub_.fail_content({.too_long = true});
  EXPECT_NE(rig_.refused("test/tiny").message.find("more comes"), std::string::npos);
  EXPECT_FALSE(rig_.exists(blob()));
}

TEST_F(FetchModelTest, PartThatIsTooLongIsThrownAway) {
  rig_.write(incomplete(), text_ + "more");
  expect_whole(rig_.fetched("test/tiny"));
}

TEST_F(FetchModelTest, WholePartOfAnotherProgramIsOnlyChecked) {
  rig_.write(incomplete(), text_);
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_TRUE(hub_.content_requests().empty());
}

// --- disk ---

TEST_F(FetchModelTest, SpaceIsCheckedBefore) {
  rig_.disk.free = 1'000;
  const Error error = rig_.refused("test/tiny");
  EXPECT_NE(error.message.find("683.59 KiB are to be downloaded, but only 1000 B are free"),
            std::string::npos)
      << error.describe();
  EXPECT_TRUE(hub_.content_requests().empty());
}

TEST_F(FetchModelTest, FullDiskKeepsWhatCame) {
  rig_.disk.fails = 400'000;
  const Error error = rig_.refused("test/tiny");
  EXPECT_NE(error.remedy.find("The disk is full"), std::string::npos) << error.describe();
  const auto kept = stdfs::file_size(rig_.at(incomplete()));
  EXPECT_GT(kept, 0U);
  rig_.disk.fails.reset();
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(ranges().back(), "bytes=" + std::to_string(kept) + "-");
}

TEST_F(FetchModelTest, FailedRenameKeepsWhatCame) {
  rig_.disk.renames = FsFault::io;
  rig_.refused("test/tiny");
  rig_.disk.renames.reset();
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_EQ(hub_.content_requests().size(), 1U);
}

TEST_F(FetchModelTest, FileSystemWithoutLinksGetsTheFileItself) {
  rig_.disk.links = FsFault::denied;
  const std::string path = rig_.fetched("test/tiny");
  EXPECT_EQ(CacheRig::read(path), text_);
  EXPECT_FALSE(stdfs::is_symlink(path));
  rig_.disk.free = 1'000;
  EXPECT_EQ(rig_.fetched("test/tiny"), path);
  EXPECT_EQ(hub_.content_requests().size(), 1U) << "it is there, and nothing is to be downloaded";
  rig_.disk.free.reset();
  rig_.write(path.substr(rig_.at("").size()), "cut");
  EXPECT_EQ(CacheRig::read(rig_.fetched("test/tiny")), text_) << "of another length it is not it";
  EXPECT_EQ(hub_.content_requests().size(), 2U);
}

// --- the user and other processes ---

TEST_F(FetchModelTest, StoppingKeepsWhatCame) {
  hub_.set_delay_ms(20);
  rig_.on_progress = [this] { rig_.stopped = rig_.progress.back().done > 100'000; };
  const Error error = rig_.refused("test/tiny");
  EXPECT_EQ(error.kind, ErrorKind::cancelled);
  EXPECT_NE(error.message.find("stopped at "), std::string::npos) << error.describe();
  rig_.on_progress = {};
  rig_.stopped = false;
  expect_whole(rig_.fetched("test/tiny"));
  EXPECT_TRUE(ranges().back().starts_with("bytes="));
}

TEST_F(FetchModelTest, SecondProcessWaitsAndUsesTheResult) {
  hub_.set_delay_ms(20);
  CacheRig second;
  second.settings = rig_.settings;
  std::thread first([this] { expect_whole(rig_.fetched("test/tiny")); });
  while (!rig_.exists(incomplete())) std::this_thread::yield();
  const std::string path = second.fetched("test/tiny");
  first.join();
  EXPECT_EQ(CacheRig::read(path), text_);
  EXPECT_TRUE(second.has_said("is being downloaded by another process"));
  EXPECT_EQ(hub_.content_requests().size(), 1U);
}

// --- without the hub ---

TEST_F(FetchModelTest, OfflineUsesTheCacheOnly) {
  const std::string path = rig_.fetched("test/tiny");
  hub_.put("tiny-Q8_0.gguf", content(kBytes, 2));
  const std::size_t asked = hub_.requests().size();
  rig_.settings.offline = true;
  EXPECT_EQ(rig_.fetched("test/tiny:Q8_0"), path);
  const Error quant = rig_.refused("test/tiny:Q4_0");
  EXPECT_NE(quant.message.find("the cache of test/tiny has no Q4_0"), std::string::npos);
  EXPECT_NE(quant.remedy.find("There is Q8_0; without --offline"), std::string::npos)
      << quant.describe();
  EXPECT_NE(rig_.refused("test/other").message.find("nothing of test/other is in the cache"),
            std::string::npos);
  EXPECT_EQ(hub_.requests().size(), asked);
}

TEST_F(FetchModelTest, UnreachableHubFallsBackToTheCacheAndSaysSo) {
  const std::string path = rig_.fetched("test/tiny");
  hub_.stop();
  EXPECT_EQ(rig_.fetched("test/tiny"), path);
  EXPECT_TRUE(rig_.has_said("using the copy in the cache"));
  EXPECT_EQ(rig_.refused("test/other").kind, ErrorKind::unavailable);
}

TEST_F(FetchModelTest, RefusalIsNotHiddenByTheCache) {
  rig_.fetched("test/tiny");
  hub_.set_private("secret");
  EXPECT_NE(rig_.refused("test/tiny").remedy.find("--offline"), std::string::npos);
}

TEST_F(FetchModelTest, NewVersionIsFetchedAndTheOldOneStaysUntilThen) {
  const std::string old_path = rig_.fetched("test/tiny");
  text_ = content(kBytes, 2);
  hub_.put("tiny-Q8_0.gguf", text_);
  rig_.settings.tries = 1;
  hub_.fail_content({.drop_after = 100'000});
  EXPECT_EQ(rig_.fetched("test/tiny"), old_path) << "the new one cannot be had now";
  const std::string new_path = rig_.fetched("test/tiny");
  EXPECT_NE(new_path, old_path);
  expect_whole(new_path);
}

}  // namespace
}  // namespace samovar::hub
