// Bundles: sessions of a store in one file, to take them to another machine. The format is
// specified to the byte in docs/store-format.md ("Bundles"). Nothing read from one is trusted:
// lengths are checked before anything is allocated, names are never used as paths, and only what
// ends with a right end record was a bundle.
//
// Both ends stream: a bundle is larger than memory. On one thread; they block on the disk. Errors
// name the file and say what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fs/fs.h"
#include "store/blob_record.h"

namespace samovar {

inline constexpr std::uint16_t kBundleVersion = 1;
inline constexpr std::size_t kBundleHeaderBytes = 32;
inline constexpr std::size_t kBundleRecordBytes = 16;  // before the name
inline constexpr std::size_t kBundleEndBytes = 64;

// A new bundle. Until finish() the file is worthless; the caller removes it on failure.
class BundleWriter {
 public:
  static Result<BundleWriter> create(Fs& fs, std::string path, std::int64_t created);

  // Copies the blob file at `path`, verifying it on the way. Parents come before what stands on
  // them.
  Status add(const std::string& path, const BlobKey& key);

  // The end record, and to the disk.
  Status finish();

  [[nodiscard]] std::uint64_t blobs() const { return blobs_; }
  [[nodiscard]] std::uint64_t bytes() const { return written_; }

 private:
  BundleWriter(Fs& fs, std::string path, std::unique_ptr<FileWriter> file)
      : fs_(&fs), path_(std::move(path)), file_(std::move(file)) {}
  Status write(Bytes bytes);
  Status begin_record(const BlobKey& key, std::uint64_t file_bytes, Bytes header);

  Fs* fs_;
  std::string path_;
  std::unique_ptr<FileWriter> file_;
  Sha256Hasher hasher_;
  std::uint64_t blobs_ = 0;
  std::uint64_t blob_bytes_ = 0;
  std::uint64_t written_ = 0;
};

class BundleReader {
 public:
  // Checks the header.
  static Result<BundleReader> open(Fs& fs, std::string path);

  // The next blob: its header, verified, and its name and length agree with it. Nothing: the end
  // record came, and everything before it is what was written. What copy() was not called for is
  // an error: nothing may be skipped unverified.
  Result<std::optional<DecodedBlob>> next();

  // The bytes of the file of the blob that next() gave, each chunk after it was verified. An error
  // of `take` ends it.
  using Take = std::function<FsStatus(Bytes)>;
  Status copy(const Take& take);

  [[nodiscard]] std::uint64_t size() const { return file_->size(); }

 private:
  BundleReader(std::string path, std::unique_ptr<FileReader> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status read(MutableBytes into);  // the next bytes, all of them
  Result<std::optional<DecodedBlob>> end(Bytes record);
  Result<DecodedBlob> blob(Bytes record);
  [[nodiscard]] std::uint64_t left() const { return file_->size() - at_; }
  [[nodiscard]] std::unexpected<Error> refuse(const std::string& what) const;

  std::string path_;
  std::unique_ptr<FileReader> file_;
  Sha256Hasher hasher_;
  std::uint64_t at_ = 0;
  std::uint64_t blobs_ = 0;
  std::uint64_t blob_bytes_ = 0;
  std::optional<DecodedBlob> current_;
  std::vector<std::uint8_t> header_;  // of current_
};

}  // namespace samovar
