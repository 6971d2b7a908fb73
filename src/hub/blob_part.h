// BlobPart: the bytes of one blob that are there, on disk and hashed, and how they grow. Made from
// what an earlier process left (reading and hashing it) or from nothing. One thread, under the
// blob's lock. Errors as hub_errors.h; after one the file holds what it held.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "fs/cache_fs.h"
#include "hub/cache_layout.h"
#include "hub/file_choice.h"

namespace samovar::hub {

class BlobPart {
 public:
  // `asked_to_stop` is called while it reads what is there.
  [[nodiscard]] static Result<BlobPart> open(CacheFs& fs, const CacheLayout& layout,
                                             const RepoFile& file,
                                             const std::function<bool()>& asked_to_stop);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& etag() const { return etag_; }

  // Of the answer that sends it: kept for the next process.
  void note_etag(const std::string& etag);

  [[nodiscard]] Status add(Bytes bytes);

  // From nothing again.
  [[nodiscard]] Status start_over();

  // Checks the whole, makes it durable and gives it its name. A hash that differs deletes it.
  [[nodiscard]] Status publish();

 private:
  BlobPart(CacheFs& fs, const CacheLayout& layout, const RepoFile& file)
      : fs_(&fs), layout_(&layout), file_(&file) {}
  void remove_files();
  void write_note();

  CacheFs* fs_;
  const CacheLayout* layout_;
  const RepoFile* file_;
  std::unique_ptr<FileWriter> writer_;
  Sha256Hasher hasher_;
  std::uint64_t bytes_ = 0;
  std::string etag_;
};

}  // namespace samovar::hub
