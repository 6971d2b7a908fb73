// Catalog: the index on disk, so that a server with 100,000 entries starts at once. Disposable:
// files describe themselves (S7), and a catalog that is missing, damaged or of another version is
// made again from them. Never the commit point: a blob counts from the moment its file has its
// name, whether or not the catalog knows.
//
// The only code that knows SQLite: one connection, WAL, synchronous=NORMAL (what is lost with the
// power is found again by reconciling with the folder). Used by one thread, the catalog thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store_index.h"

namespace samovar {

class Catalog {
 public:
  // Opens or makes it. A damaged one is set aside (deleted) and made anew: `recreated()`.
  static Result<std::unique_ptr<Catalog>> open(const std::string& path);
  ~Catalog();

  // Damage was found, by open() or by a later call: what it held is lost, and a scan of the folder
  // finds it again.
  [[nodiscard]] bool recreated() const;

  // Every record; rows that make no sense are left out. None, if reading shows that it is damaged.
  Result<std::vector<BlobRecord>> load();

  // One transaction.
  struct Changes {
    std::vector<BlobRecord> put;  // inserted or replaced
    std::vector<BlobKey> erased;
    std::vector<std::pair<BlobKey, std::int64_t>> used;  // last_used = the time, uses + 1
    std::vector<EvictedBlob> evicted = {};               // besides being erased
    [[nodiscard]] bool empty() const {
      return put.empty() && erased.empty() && used.empty() && evicted.empty();
    }
  };
  Status apply(const Changes& changes);

  // What was evicted last, oldest first: at most EvictedChains::kMost. Some may be there again. It
  // is known to the catalog alone: one that is made again remembers nothing of it.
  std::vector<EvictedBlob> evicted();

  // A number that outlives restarts, e.g. the bytes written today. 0 if never set.
  std::int64_t number(const std::string& name);
  Status set_number(const std::string& name, std::int64_t value);

  // Bytes of the database's files.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Database;
  explicit Catalog(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace samovar
