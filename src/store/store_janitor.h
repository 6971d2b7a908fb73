// StoreJanitor: keeps index, folder and budget in step: loads the index, compares it with the
// files, makes room before something is written (S6), and removes what newer snapshots have
// outgrown. On the writer executor, beside the writer, so that nothing it lists or removes is being
// written; only load() runs on the catalog executor.
#pragma once

#include <memory>
#include <vector>

#include "store/store_shared.h"

namespace samovar {

class StoreJanitor {
 public:
  explicit StoreJanitor(std::shared_ptr<StoreShared> shared) : shared_(std::move(shared)) {}

  // Posts what brings the index to life: the catalog, then the folder.
  static void start(const std::shared_ptr<StoreJanitor>& janitor);

  // Frees bytes until everything in the folder and the `coming` ones, which are written next, are
  // within the budget; then down to the low-water mark, so that it is not called for every file.
  // False: it cannot be done.
  bool make_room(std::uint64_t coming);

  void remove_superseded(const Identity& tip);

  // Disk full: gives up some of our own bytes. Folder gone: makes it again and looks what is left.
  void after_write_error(const FsError& error);

  // Compares folder and index: removes what a killed process left, takes in what the index lacks,
  // forgets what has no file, quarantines what is damaged, removes what nothing can match (S5).
  void scan();

 private:
  void load();
  void read_pins();
  void take_in(const StoreFolder::Scan& scan);
  enum class Why { useless, to_make_room };
  struct Removed {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
  };
  Removed remove(const std::vector<BlobKey>& keys, Why why);
  // `evicted`: of the statistics, to which what goes is added.
  bool free_down_to(std::uint64_t most, std::uint64_t coming, std::uint64_t StoreStats::* evicted);
  void count(std::uint64_t StoreStats::* figure, std::uint64_t more);

  const std::shared_ptr<StoreShared> shared_;
};

}  // namespace samovar
