// Fuzz target: taking in bundles. An input is one byte of flags and a bundle; the flags say what of
// its end to put right, so that fuzzing reaches what lies behind the counts and the digest.
#include <algorithm>
#include <cstdlib>

#include "base/little_endian.h"
#include "store/store_transfer.h"
#include "tests/fuzz/targets.h"
#include "tests/support/sim_fs.h"

namespace samovar::fuzz_import {
namespace {

constexpr std::size_t kInputMax = 1 << 20;  // libFuzzer's inputs are smaller
constexpr std::uint8_t kRepairDigest = 1;
constexpr std::uint8_t kRepairCounts = 2;
const std::string kFile = "/input";
const std::string kRoot = "/store";

void require(bool holds) {
  if (!holds) std::abort();
}

// Counts the records as their lengths say.
void repair_counts(MutableBytes file) {
  std::uint64_t blobs = 0;
  std::uint64_t bytes = 0;
  std::size_t at = kBundleHeaderBytes;
  while (at + kBundleRecordBytes <= file.size() && file[at] == 'B') {
    const auto name = load_le<std::uint32_t>(file.data() + at + 4);
    const auto length = load_le<std::uint64_t>(file.data() + at + 8);
    if (length > file.size() || name > file.size()) return;
    at += kBundleRecordBytes + name + length;
    ++blobs;
    bytes += length;
  }
  if (at + kBundleEndBytes > file.size()) return;
  store_le(file.data() + at + 8, blobs);
  store_le(file.data() + at + 16, bytes);
}

void repair(MutableBytes file, std::uint8_t flags) {
  if (file.size() < kBundleHeaderBytes + kBundleEndBytes) return;
  if (flags & kRepairCounts) repair_counts(file);
  if (flags & kRepairDigest) {
    const std::size_t digest = file.size() - sizeof(Sha256);
    std::ranges::copy(sha256(file.first(digest)), file.data() + digest);
  }
}

Result<ImportReport> import_into(SimFs& fs, const FakeClock& clock) {
  auto admin = StoreAdmin::open(fs, clock,
                                {.folder = kRoot, .access = StoreAccess::create, .catalog = false});
  require(admin.has_value());
  const auto contents = (*admin)->look();
  require(contents.has_value());
  return import_bundle(**admin, *contents, kFile);
}

// Blobs and temporaries; anything outside the store's folder is a way out.
std::uint64_t files_in(const SimFs& fs) {
  std::uint64_t count = 0;
  for (const std::string& path : fs.paths()) {
    require(path == "/" || path == kFile || path.starts_with(kRoot));
    const bool blob = path.ends_with(".seg") || path.ends_with(".snap");
    count += blob || path.ends_with(".tmp") ? 1 : 0;
  }
  return count;
}

}  // namespace

// All or nothing, and what came in is whole, and of use.
void run(Bytes input) {
  if (input.empty() || input.size() > kInputMax) return;
  std::vector<std::uint8_t> file(input.begin() + 1, input.end());
  repair(file, input[0]);
  const FakeClock clock;
  SimFs fs(clock);
  fs.write_raw(kFile, file);
  const auto report = import_into(fs, clock);
  require(files_in(fs) == (report ? report->taken : 0));
  if (!report) return;
  auto admin = StoreAdmin::open(fs, clock, {.folder = kRoot, .catalog = false});
  const auto checked = (*admin)->verify(false, false, {});
  require(checked && checked->bad.empty() && checked->good.files == report->taken &&
          checked->unreachable.files == 0);
  const auto again = import_into(fs, clock);
  require(again && again->taken == 0 && again->there == report->taken + report->there);
}

}  // namespace samovar::fuzz_import

SAMOVAR_FUZZ_TARGET(fuzz_import)
