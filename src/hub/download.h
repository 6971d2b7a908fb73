// Download: one file of a repository into the cache's blobs. Waits if another process is at it,
// goes on where an earlier one stopped, tries again when the connection breaks, checks the SHA-256
// before the blob gets its name. Blocks; one thread. Errors as hub_errors.h: whatever went wrong,
// what has come stays for the next try, unless it was damaged.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "hub/backoff.h"
#include "hub/blob_part.h"
#include "hub/cache_layout.h"
#include "hub/file_choice.h"
#include "hub/hub_tools.h"
#include "net/http_get.h"

namespace samovar::hub {

// Whether all of `file` is in the cache: as a blob or, where the file system has no symbolic links,
// in the snapshot itself (content_in_snapshot()). Goes by the length: the SHA-256 was checked
// before either of them got its name.
[[nodiscard]] bool is_in_cache(CacheFs& fs, const CacheLayout& layout, const std::string& commit,
                               const RepoFile& file);
[[nodiscard]] bool content_in_snapshot(CacheFs& fs, const CacheLayout& layout,
                                       const std::string& commit, const RepoFile& file);

class Download {
 public:
  // Everything is borrowed. `grown` is told how many of the file's bytes are there.
  Download(const HubSettings& settings, const HubTools& tools, const CacheLayout& layout,
           const std::string& commit, const RepoFile& file,
           std::function<void(std::uint64_t bytes)> grown)
      : settings_(settings),
        tools_(tools),
        layout_(layout),
        commit_(commit),
        file_(file),
        grown_(std::move(grown)),
        backoff_(settings.tries) {}

  [[nodiscard]] Status run();

 private:
  // How one request ended.
  struct Outcome {
    bool complete = false;
    Error error = {};         // if not complete
    bool passing = false;     // trying again may help
    std::string retry_after;  // as the server wishes
  };
  [[nodiscard]] bool is_there() const { return is_in_cache(tools_.fs, layout_, commit_, file_); }
  [[nodiscard]] Result<std::unique_ptr<FileLock>> take_lock() const;
  Status transfer(BlobPart& part);
  Outcome request(BlobPart& part);
  bool begin(const net::HttpHead& head, BlobPart& part);
  bool take(Bytes bytes, BlobPart& part);
  Outcome judge(const std::expected<net::GetAnswer, net::GetError>& answer, BlobPart& part);
  [[nodiscard]] std::string how_far(const BlobPart& part) const;

  const HubSettings& settings_;
  const HubTools& tools_;
  const CacheLayout& layout_;
  const std::string& commit_;
  const RepoFile& file_;
  std::function<void(std::uint64_t)> grown_;
  Backoff backoff_;
  std::optional<Error> failed_;  // by our side, in the running request
  bool restart_ = false;         // the running request showed that what is there is of another file
};

}  // namespace samovar::hub
