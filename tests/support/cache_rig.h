// CacheRig: a model cache in a temporary folder, with tools that remember what was said, wait
// hardly at all, can be told to stop, and a file system that fails where it is told to. For tests
// of src/hub and of what stands on it. One thread, except stop().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fs/posix_fs.h"
#include "hub/fetch_model.h"
#include "hub/hub_tools.h"
#include "tests/support/fake_hub.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {

// PosixFs whose disk is as full as the test wants.
class SmallDisk final : public CacheFs {
 public:
  std::optional<std::uint64_t> free;   // what space() says
  std::optional<std::uint64_t> fails;  // writing more than so many bytes to one file fails as full
  std::optional<FsFault> links;        // link() fails so
  std::optional<FsFault> renames;      // rename() of a blob fails so

  FsResult<std::unique_ptr<FileReader>> open(const std::string& path) override {
    return real_.open(path);
  }
  FsResult<std::unique_ptr<FileWriter>> create(const std::string& path) override {
    return real_.create(path);
  }
  FsStatus rename(const std::string& from, const std::string& to) override {
    if (renames && from.ends_with(".incomplete")) {
      return std::unexpected(FsError{*renames, "cannot rename " + from});
    }
    return real_.rename(from, to);
  }
  FsStatus remove(const std::string& path) override { return real_.remove(path); }
  FsStatus touch(const std::string& path) override { return real_.touch(path); }
  FsStatus make_directory(const std::string& path) override { return real_.make_directory(path); }
  FsStatus sync_directory(const std::string& path) override { return real_.sync_directory(path); }
  FsResult<std::vector<DirEntry>> list(const std::string& path, bool details) override {
    return real_.list(path, details);
  }
  FsResult<DirEntry> stat(const std::string& path) override { return real_.stat(path); }
  FsResult<FsSpace> space(const std::string& path) override {
    if (free) return FsSpace{.free = *free, .total = *free};
    return real_.space(path);
  }
  FsResult<std::unique_ptr<FileLock>> lock(const std::string& path,
                                           const std::string& owner) override {
    return real_.lock(path, owner);
  }
  FsResult<std::unique_ptr<FileWriter>> append(const std::string& path) override {
    auto writer = real_.append(path);
    if (!writer || !fails) return writer;
    return std::make_unique<Writer>(std::move(*writer), *fails);
  }
  FsStatus make_shared_directory(const std::string& path) override {
    return real_.make_shared_directory(path);
  }
  FsStatus link(const std::string& target, const std::string& path) override {
    if (links) return std::unexpected(FsError{*links, "cannot link " + path});
    return real_.link(target, path);
  }
  FsResult<std::string> read_link(const std::string& path) override {
    return real_.read_link(path);
  }

 private:
  class Writer final : public FileWriter {
   public:
    Writer(std::unique_ptr<FileWriter> real, std::uint64_t most)
        : real_(std::move(real)), left_(most) {}
    FsStatus write(Bytes bytes) override {
      if (bytes.size() > left_) {
        return std::unexpected(FsError{FsFault::full, "cannot write: No space left on device"});
      }
      left_ -= bytes.size();
      return real_->write(bytes);
    }
    FsStatus sync() override { return real_->sync(); }

   private:
    std::unique_ptr<FileWriter> real_;
    std::uint64_t left_;
  };
  PosixFs real_;
};

class CacheRig {
 public:
  CacheRig() {
    settings.cache = folder_.at("hub");
    settings.stall = kSecond;
  }

  hub::HubSettings settings;
  SmallDisk disk;
  std::vector<std::string> said;
  std::vector<Micros> pauses;  // that were not only questions
  std::vector<hub::FetchProgress> progress;
  std::function<void()> on_progress;
  std::atomic<bool> stopped = false;

  void use(const FakeHub& hub) { settings.endpoint = hub.url(); }

  hub::HubTools tools() {
    return {.fs = disk,
            .pause =
                [this](Micros time) {
                  if (time > 0) {
                    pauses.push_back(time);
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                  }
                  return !stopped;
                },
            .say = [this](const std::string& line) { said.push_back(line); },
            .progress =
                [this](const hub::FetchProgress& now) {
                  progress.push_back(now);
                  if (on_progress) on_progress();
                }};
  }

  Result<std::string> fetch(const std::string& ref, const std::string& file = "") {
    return hub::fetch_model({*hub::parse_repo_ref(ref, ""), file}, settings, tools());
  }

  // Fails the test if it does not succeed.
  std::string fetched(const std::string& ref, const std::string& file = "") {
    const auto path = fetch(ref, file);
    EXPECT_TRUE(path) << path.error().describe();
    return path.value_or("");
  }
  Error refused(const std::string& ref, const std::string& file = "") {
    const auto path = fetch(ref, file);
    EXPECT_FALSE(path) << *path;
    return path ? Error{} : path.error();
  }

  [[nodiscard]] bool has_said(const std::string& text) const {
    return std::ranges::any_of(
        said, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  // Below the cache.
  [[nodiscard]] std::string at(const std::string& path) const {
    return settings.cache + "/" + path;
  }
  [[nodiscard]] bool exists(const std::string& path) const {
    return std::filesystem::exists(at(path));
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }

 private:
  TemporaryFolder folder_;
};

// Bytes that repeat nowhere, the same for one seed.
[[nodiscard]] inline std::string content(std::size_t bytes, std::uint32_t seed) {
  std::string text(bytes, '\0');
  std::uint32_t state = seed * 2'654'435'761U + 1;
  for (char& c : text) {
    state = state * 1'664'525U + 1'013'904'223U;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

}  // namespace samovar::testing
