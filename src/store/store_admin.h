// StoreAdmin: a store's folder in the hands of its owner: looking, checking, making room, removing.
// For the command line, with the server stopped; what only reads also works beside a running one.
//
// Reading takes the lock only while it reads the catalog, and reads the files' headers where
// somebody else holds it (SQLite has one connection, the server's). Changing holds the lock from
// open() on (S8). Files are what counts: the catalog is kept in step as far as it can be, and put
// right by the server when it is not (S7).
//
// One thread; blocks on the disk. Errors name the file or folder and say what to do.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/catalog.h"
#include "store/store_contents.h"
#include "store/store_folder.h"

namespace samovar {

enum class StoreAccess {
  read,
  change,
  create,  // change; makes the folder if need be
};

struct StoreAdminOptions {
  std::string folder;
  StoreAccess access = StoreAccess::read;
  bool catalog = true;                  // false: the files are the only index
  std::string owner = "samovar cache";  // what others are told about who holds the lock
};

// A file that is not as it should be.
struct BadFile {
  std::string path;
  std::string what;       // names the path
  bool damaged = true;    // false: the disk failed, the file may be fine
  bool repaired = false;  // it is in quarantine now
};

struct VerifyReport {
  FileCount good;
  std::vector<BadFile> bad;
  FileCount unknown_versions;
  FileCount unreachable;  // good files that nothing can match
};

struct GcReport {
  FileCount temporaries;
  FileCount quarantined;  // and files whose header does not hold
  FileCount unreachable;
  FileCount evicted;
  std::uint64_t bytes_left = 0;
  bool fits = true;  // the size that was asked for
  [[nodiscard]] std::uint64_t freed() const {
    return temporaries.bytes + quarantined.bytes + unreachable.bytes + evicted.bytes;
  }
};

struct RebuildReport {
  std::uint64_t records = 0;
  std::uint64_t damaged = 0;  // left where they are: see verify
  std::uint64_t unknown_versions = 0;
};

class StoreAdmin {
 public:
  static Result<std::unique_ptr<StoreAdmin>> open(Fs& fs, const Clock& clock,
                                                  StoreAdminOptions options);

  // --- reading ---

  Result<StoreContents> look();

  // Every blob in the folder: whole, or with `quick` its header. With `repair` (needs change) bad
  // files are put in quarantine. `progress` may be empty.
  using Progress = std::function<void(const FileCount& done, const FileCount& all)>;
  Result<VerifyReport> verify(bool quick, bool repair, const Progress& progress);

  // --- changing ---

  // Removes the files of `keys`, which are among `contents`, and the pins on nodes that are gone.
  // What stands on others goes first, so that a crash leaves whole chains.
  Result<FileCount> remove(const StoreContents& contents, const std::vector<BlobKey>& keys);

  // Removes what is worthless, then the least valuable until at most `size` bytes are left. `dry`
  // only says what it would do (and works with read).
  Result<GcReport> gc(const StoreContents& contents, std::optional<std::uint64_t> size, bool dry);

  // Removes temporaries, damaged files and the quarantine: nobody knows whose they were.
  Result<FileCount> remove_remains(const StoreContents& contents);

  // Removes everything that can be called Samovar's, the catalog and files of newer versions too.
  Result<FileCount> remove_everything();

  Status set_pins(const std::vector<Identity>& pins);

  // Makes the catalog again from the files; needs `catalog`.
  Result<RebuildReport> rebuild();

  // The catalog is told what came; failures do not matter.
  void took_in(const std::vector<BlobRecord>& records);

  [[nodiscard]] Fs& fs() { return fs_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] StoreFolder& folder() { return folder_; }

 private:
  struct File {
    std::string path;
    std::string folder;
    BlobName name;
    std::uint64_t bytes = 0;
  };
  StoreAdmin(Fs& fs, const Clock& clock, StoreAdminOptions options);
  Status enter();
  Status check_folder();
  void begin_reading(StoreContents& contents);
  void count_rest(StoreContents& contents);
  Result<std::vector<File>> blob_files();
  void verify_file(const File& file, bool quick, VerifyReport& report,
                   std::vector<BlobRecord>& good);
  void quarantine_bad(std::vector<BadFile>& files);
  void apply(const Catalog::Changes& changes);
  Status remove_file(const std::string& path, FileCount& count);

  Fs& fs_;
  const Clock& clock_;
  const StoreAdminOptions options_;
  StoreFolder folder_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Catalog> catalog_;  // while the lock is held
};

}  // namespace samovar
