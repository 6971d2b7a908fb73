// TemporaryFolder: a folder of a test's own, empty at first, gone with the object and whatever is
// in it by then. TemporaryFile: a file of a test's own. Names are new each time, so that tests may
// run side by side. One thread makes and removes them. Error: std::system_error where there can be
// no folder, which fails the test or the fuzz target.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace samovar::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // In memory where the machine has such a folder: for those who sync much and do not test that.
  [[nodiscard]] static TemporaryFolder in_memory() {
    const std::filesystem::path memory = "/dev/shm";
    return TemporaryFolder(
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path());
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string at(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  explicit TemporaryFolder(const std::filesystem::path& parent)
      : path_(parent / "samovar-test-XXXXXX") {
    if (::mkdtemp(path_.data()) != nullptr) return;
    const int code = errno;
    throw std::system_error(code, std::generic_category(), "cannot make a folder like " + path_);
  }

  std::string path_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, mode_t mode = 0600) {
    std::ofstream out(path_, std::ios::binary);
    out << content << std::flush;
    if (out && ::chmod(path_.c_str(), mode) == 0) return;
    throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_.at("file");
};

}  // namespace samovar::testing
