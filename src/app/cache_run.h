// CacheRun: one run of one `samovar cache` command: opens the store, does it, prints it. Private to
// the cache command; one thread.
#pragma once

#include <memory>
#include <vector>

#include "app/cache_command.h"
#include "app/cache_tables.h"
#include "store/store_admin.h"

namespace samovar::app {

class CacheRun {
 public:
  CacheRun(const CacheRequest& request, const CacheTools& tools)
      : request_(request),
        tools_(tools),
        how_{request.folder, request.json, tools.clock.wall_seconds()} {}

  Result<CacheAnswer> run();

 private:
  using Answer = Result<CacheAnswer>;
  Answer list();
  Answer stats();
  Answer verify();
  Answer rebuild();
  Answer gc();
  Answer pin();
  Answer unpin();
  Answer rm();
  Answer purge();
  Answer export_file();
  Answer import_file();

  Status open(StoreAccess access);
  Status open_and_look(StoreAccess access);
  Answer remove(const std::vector<BlobKey>& keys, RemovalReport report);
  Answer save_pins(std::vector<Identity> pins, PinReport report);
  [[nodiscard]] FileCount count(const std::vector<BlobKey>& keys) const;

  const CacheRequest& request_;
  const CacheTools& tools_;
  const Printing how_;
  std::unique_ptr<StoreAdmin> admin_;
  StoreContents contents_;
};

}  // namespace samovar::app
