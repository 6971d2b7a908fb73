// Fuzz target: the catalog. An input is the database file; it must open, load, take changes and
// give them back, as it is or made again.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "store/catalog.h"
#include "tests/fuzz/targets.h"
#include "tests/support/store_records.h"
#include "tests/support/temporary_folder.h"

namespace samovar::fuzz_catalog {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool holds(Catalog& catalog, const BlobRecord& wanted) {
  const auto records = catalog.load();
  require(records.has_value());
  StoreIndex index;
  for (const BlobRecord& record : *records) index.add(record, false);
  (void)index.eviction_order(std::uint64_t{1} << 40, testing::kNow);
  return std::ranges::find(*records, wanted) != records->end();
}

}  // namespace

void run(Bytes input) {
  const auto folder = testing::TemporaryFolder::in_memory();
  const std::string path = folder.at("catalog.db");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  const auto catalog = Catalog::open(path);
  require(catalog.has_value());
  (void)(*catalog)->load();
  const Tokens tokens = testing::random_tokens(1, 10);
  const BlobRecord fresh = testing::segment_of(testing::model_named('m'), {}, tokens, 0, 10);
  const Catalog::Changes changes{.put = {fresh}, .erased = {testing::key_of(fresh)}, .used = {}};
  const Catalog::Changes puts{.put = {fresh}, .erased = {}, .used = {}};
  require((*catalog)->apply(changes).has_value());
  require((*catalog)->apply(puts).has_value());
  // Writing or reading back may bring damage to light; then it is made again, empty and sound.
  if (holds(**catalog, fresh)) return;
  require((*catalog)->recreated());
  require((*catalog)->apply(puts).has_value());
  require(holds(**catalog, fresh));
}

}  // namespace samovar::fuzz_catalog

SAMOVAR_FUZZ_TARGET(fuzz_catalog)
