// What a server left in its store's folder, read with the store's own reader. One thread; the
// folder may change meanwhile: what vanishes while it is read is left out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fs/posix_fs.h"
#include "store/blob_file.h"
#include "store/blob_record.h"

namespace samovar::testing {

class StoredFiles {
 public:
  explicit StoredFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Blob {
    std::string path;
    BlobHeader header;
  };

  // Paths of all files whose name ends so, wherever they are, quarantine left out.
  [[nodiscard]] std::vector<std::string> named(const std::string& ending) const {
    std::vector<std::string> paths;
    for_each_file([&](const std::filesystem::path& path) {
      if (path.string().ends_with(ending) && path.parent_path().filename() != "quarantine") {
        paths.push_back(path);
      }
    });
    return paths;
  }

  // Those whose header can be read.
  [[nodiscard]] std::vector<Blob> blobs() const {
    std::vector<Blob> blobs;
    PosixFs fs;
    for (const char* ending : {".seg", ".snap"}) {
      for (const std::string& path : named(ending)) {
        if (auto blob = read_blob_header(fs, path))
          blobs.push_back({path, std::move(blob->header)});
      }
    }
    return blobs;
  }

  // A place to resume from at a position in [low, high].
  [[nodiscard]] bool has_checkpoint(Position low, Position high, bool hybrid) const {
    const BlobKind kind = hybrid ? BlobKind::snapshot : BlobKind::segment;
    for (const Blob& blob : blobs()) {
      const BlobHeader& header = blob.header;
      if (header.kind == kind && header.end >= low && header.end <= high) return true;
    }
    return false;
  }

  // Reads every byte of every blob; what is wrong with them.
  [[nodiscard]] std::vector<std::string> faults() const {
    std::vector<std::string> faults;
    PosixFs fs;
    for (const char* ending : {".seg", ".snap"}) {
      for (const std::string& path : named(ending)) {
        const auto blob = verify_blob(fs, path);
        const bool gone = !blob && blob.error().kind == BlobReadError::Kind::missing;
        if (!blob && !gone) faults.push_back(blob.error().message);
      }
    }
    return faults;
  }

  [[nodiscard]] std::vector<std::string> quarantined() const {
    std::vector<std::string> paths;
    for_each_file([&](const std::filesystem::path& path) {
      if (path.parent_path().filename() == "quarantine") paths.push_back(path);
    });
    return paths;
  }

  // Of all files, in the blocks that they take.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for_each_file([&](const std::filesystem::path& path) {
      std::error_code gone;
      const std::uintmax_t size = std::filesystem::file_size(path, gone);
      if (!gone) bytes += on_disk(size);
    });
    return bytes;
  }

 private:
  template <class Visit>
  void for_each_file(const Visit& visit) const {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(folder_, error);
    for (; !error && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(error)) {
      std::error_code gone;
      if (entry->is_regular_file(gone)) visit(entry->path());
    }
  }

  const std::string folder_;
};

}  // namespace samovar::testing
