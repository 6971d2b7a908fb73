#include "store/store_admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "store/store_family.h"

namespace samovar {
namespace {

constexpr std::array kCatalogSuffixes = {"-wal", "-shm", "-journal", ""};

std::unexpected<Error> failed(const FsError& error, std::string remedy = "") {
  const auto kind = error.fault == FsFault::not_found ? ErrorKind::not_found : ErrorKind::internal;
  return fail(kind, error.message, "", std::move(remedy));
}

std::unexpected<Error> no_store(const std::string& folder, const std::string& why) {
  return fail(ErrorKind::not_found, fmt::format("there is no store in {}{}", folder, why), "",
              "Name the folder that the server uses with --store-dir");
}

// What a store leaves in its folder, and hardly anybody else.
bool is_a_sign(const DirEntry& entry) {
  if (entry.directory) return entry.name == "quarantine" || is_model_folder(entry.name);
  return entry.name == "lock" || entry.name == "catalog.db" || entry.name == "ledger.db" ||
         entry.name == "pins";
}

// "cannot lock /x/lock: process 12 holds it" -> "process 12".
std::string holder_in(const FsError& error) {
  constexpr std::string_view end = " holds it";
  std::string_view text = error.message;
  if (!text.ends_with(end)) return "another process";
  text.remove_suffix(end.size());
  const std::size_t colon = text.rfind(": ");
  return std::string(colon == std::string_view::npos ? text : text.substr(colon + 2));
}

std::uint64_t bytes_at(Fs& fs, const std::string& path) {
  const auto file = fs.stat(path);
  return file ? file->bytes : 0;
}

Catalog::Changes evictions_of(const std::vector<BlobRecord>& records,
                              const std::vector<BlobKey>& keys) {
  const StoreFamily family(records);
  Catalog::Changes changes;
  for (const BlobKey& key : keys) {
    const BlobRecord* record = key.kind == BlobKind::segment ? family.segment(key.identity)
                                                             : family.snapshot(key.identity);
    if (record != nullptr) changes.evicted.push_back(evicted_blob(*record));
  }
  return changes;
}

}  // namespace

StoreAdmin::StoreAdmin(Fs& fs, const Clock& clock, StoreAdminOptions options)
    : fs_(fs), clock_(clock), options_(std::move(options)), folder_(fs, options_.folder) {}

Result<std::unique_ptr<StoreAdmin>> StoreAdmin::open(Fs& fs, const Clock& clock,
                                                     StoreAdminOptions options) {
  std::unique_ptr<StoreAdmin> admin(new StoreAdmin(fs, clock, std::move(options)));
  if (auto status = admin->enter(); !status) return std::unexpected(status.error());
  return admin;
}

Status StoreAdmin::check_folder() {
  const std::string& root = folder_.root();
  if (options_.access == StoreAccess::create) {
    if (const FsStatus made = folder_.prepare(nullptr); !made) return failed(made.error());
    return {};
  }
  const auto entry = fs_.stat(root);
  if (!entry && entry.error().fault != FsFault::not_found) return failed(entry.error());
  if (!entry) return no_store(root, "");
  if (!entry->directory) return no_store(root, ": it is a file");
  const auto entries = fs_.list(root, false);
  if (!entries) return failed(entries.error());
  if (entries->empty() || std::ranges::any_of(*entries, is_a_sign)) return {};
  return no_store(root, ": it holds other files");
}

Status StoreAdmin::enter() {
  if (auto status = check_folder(); !status) return status;
  if (options_.access == StoreAccess::read) return {};
  auto lock = fs_.lock(folder_.lock_path(), options_.owner);
  if (!lock && lock.error().fault == FsFault::exists) {
    return fail(ErrorKind::unavailable,
                fmt::format("{} owns the store in {}", holder_in(lock.error()), folder_.root()), "",
                "Stop the server, then try again; what only reads (ls, stats, verify, export, gc "
                "--dry-run) works meanwhile");
  }
  if (!lock) return failed(lock.error());
  lock_ = std::move(*lock);
  if (!options_.catalog) return {};
  if (auto catalog = Catalog::open(folder_.catalog_path())) catalog_ = std::move(*catalog);
  return {};
}

// Reading: the lock, and with it the catalog, if nobody has it and there is one.
void StoreAdmin::begin_reading(StoreContents& contents) {
  if (!options_.catalog || !fs_.stat(folder_.catalog_path())) return;
  auto lock = fs_.lock(folder_.lock_path(), options_.owner);
  if (!lock) {
    if (lock.error().fault == FsFault::exists) contents.owner = holder_in(lock.error());
    return;
  }
  lock_ = std::move(*lock);
  if (auto catalog = Catalog::open(folder_.catalog_path())) catalog_ = std::move(*catalog);
}

Result<StoreContents> StoreAdmin::look() {
  StoreContents contents;
  const bool reading = options_.access == StoreAccess::read;
  if (reading) begin_reading(contents);
  if (catalog_ != nullptr) {
    auto records = catalog_->load();
    if (records) contents.records = std::move(*records);
    contents.from_catalog = records && !catalog_->recreated();
  }
  // A catalog that had to be made again is filled before anybody takes it for the whole truth.
  if (reading && (catalog_ == nullptr || contents.from_catalog)) {
    catalog_.reset();
    lock_.reset();
  }
  auto scan = folder_.scan(contents.records, {});
  if (!scan) return failed(scan.error());
  apply({.put = scan->found, .erased = scan->missing, .used = {}});
  if (reading) {
    catalog_.reset();
    lock_.reset();
  }
  const std::set<BlobKey> missing(scan->missing.begin(), scan->missing.end());
  std::erase_if(contents.records,
                [&](const BlobRecord& record) { return missing.contains(key_of(record)); });
  std::ranges::move(scan->found, std::back_inserter(contents.records));
  contents.damaged = std::move(scan->damaged);
  contents.temporaries = std::move(scan->temporaries);
  contents.unknown_versions = {scan->unknown_versions, scan->unknown_version_bytes};
  contents.foreign = scan->foreign;
  if (auto pins = folder_.read_pins()) contents.pins = std::move(*pins);
  count_rest(contents);
  return contents;
}

void StoreAdmin::count_rest(StoreContents& contents) {
  for (const std::string& path : contents.temporaries) contents.temporary.add(bytes_at(fs_, path));
  for (const std::string& path : contents.damaged) contents.quarantined.add(bytes_at(fs_, path));
  if (const auto files = fs_.list(folder_.quarantine_folder(), true)) {
    for (const DirEntry& file : *files) contents.quarantined.add(file.bytes);
  }
  for (const char* suffix : kCatalogSuffixes) {
    contents.catalog_bytes += on_disk(bytes_at(fs_, folder_.catalog_path() + suffix));
  }
  if (const auto space = fs_.space(folder_.root())) contents.space = *space;
}

void StoreAdmin::apply(const Catalog::Changes& changes) {
  if (catalog_ != nullptr) (void)catalog_->apply(changes);
}

void StoreAdmin::took_in(const std::vector<BlobRecord>& records) {
  apply({.put = records, .erased = {}, .used = {}});
}

Status StoreAdmin::remove_file(const std::string& path, FileCount& count) {
  const std::uint64_t bytes = bytes_at(fs_, path);
  const FsStatus removed = fs_.remove(path);
  if (removed) count.add(bytes);
  if (removed || removed.error().fault == FsFault::not_found) return {};
  return failed(removed.error(), "Check the permissions of the folder");
}

Result<FileCount> StoreAdmin::remove(const StoreContents& contents,
                                     const std::vector<BlobKey>& keys) {
  const StoreFamily family(contents.records);
  std::vector<const BlobRecord*> going;
  for (const BlobKey& key : keys) {
    const BlobRecord* record = key.kind == BlobKind::segment ? family.segment(key.identity)
                                                             : family.snapshot(key.identity);
    if (record != nullptr) going.push_back(record);
  }
  sort_for_publishing(going);
  FileCount count;
  Status status;
  std::set<std::string> folders;
  Catalog::Changes changes;
  for (auto at = going.rbegin(); at != going.rend() && status; ++at) {
    status = remove_file(folder_.blob_path((*at)->model, key_of(**at)), count);
    if (!status) break;
    folders.insert(folder_.model_folder((*at)->model));
    changes.erased.push_back(key_of(**at));
  }
  for (const std::string& folder : folders) {
    (void)fs_.sync_directory(folder);
    (void)fs_.remove(folder);  // if it is empty
  }
  apply(changes);
  if (!status) return std::unexpected(status.error());
  std::vector<Identity> pins = contents.pins;
  const std::set<BlobKey> gone(changes.erased.begin(), changes.erased.end());
  std::erase_if(pins, [&](const Identity& pin) {
    const bool was = family.segment(pin) != nullptr || family.snapshot(pin) != nullptr;
    const auto stays = [&](const BlobRecord* record) {
      return record != nullptr && !gone.contains(key_of(*record));
    };
    return was && !stays(family.segment(pin)) && !stays(family.snapshot(pin));
  });
  if (pins != contents.pins) status = set_pins(pins);
  if (!status) return std::unexpected(status.error());
  return count;
}

Status StoreAdmin::set_pins(const std::vector<Identity>& pins) {
  if (const FsStatus written = folder_.write_pins(pins); !written) return failed(written.error());
  return {};
}

Result<FileCount> StoreAdmin::remove_remains(const StoreContents& contents) {
  FileCount count;
  std::vector<std::string> paths = contents.temporaries;
  paths.insert(paths.end(), contents.damaged.begin(), contents.damaged.end());
  const std::string quarantine = folder_.quarantine_folder();
  if (const auto files = fs_.list(quarantine, false)) {
    for (const DirEntry& file : *files) paths.push_back(join_path(quarantine, file.name));
  }
  for (const std::string& path : paths) {
    if (auto status = remove_file(path, count); !status) return std::unexpected(status.error());
  }
  return count;
}

Result<GcReport> StoreAdmin::gc(const StoreContents& contents, std::optional<std::uint64_t> size,
                                bool dry) {
  GcReport report;
  report.temporaries = contents.temporary;
  report.quarantined = contents.quarantined;
  if (!dry) {
    if (auto removed = remove_remains(contents); !removed) {
      return std::unexpected(removed.error());
    }
  }
  StoreContents rest = contents;
  const auto drop = [&](const std::vector<BlobKey>& keys, FileCount& count) -> Status {
    if (!dry && !keys.empty()) {
      if (auto removed = remove(rest, keys); !removed) return std::unexpected(removed.error());
    }
    const std::set<BlobKey> gone(keys.begin(), keys.end());
    std::erase_if(rest.records, [&](const BlobRecord& record) {
      if (!gone.contains(key_of(record))) return false;
      count.add(record.file_bytes);
      return true;
    });
    return {};
  };
  if (auto status = drop(unreachable_blobs(rest), report.unreachable); !status) {
    return std::unexpected(status.error());
  }
  if (size) {
    const auto going = blobs_to_evict(rest, *size, clock_.wall_seconds());
    const Catalog::Changes evicted = evictions_of(rest.records, going);
    if (auto status = drop(going, report.evicted); !status) {
      return std::unexpected(status.error());
    }
    if (!dry) apply(evicted);
  }
  report.bytes_left = bytes_that_count(rest);
  report.fits = !size || report.bytes_left <= *size;
  return report;
}

// Numbers that are in no file (what was written today) are kept if they can be read.
Result<RebuildReport> StoreAdmin::rebuild() {
  const std::string path = folder_.catalog_path();
  std::vector<std::pair<const char*, std::int64_t>> numbers;
  for (const char* name : {"day", "written"}) {
    if (catalog_ != nullptr) numbers.emplace_back(name, catalog_->number(name));
  }
  catalog_.reset();
  for (const char* suffix : kCatalogSuffixes) {
    const FsStatus removed = fs_.remove(path + suffix);
    if (!removed && removed.error().fault != FsFault::not_found) return failed(removed.error());
  }
  auto made = Catalog::open(path);
  if (!made) return std::unexpected(made.error());
  catalog_ = std::move(*made);
  const auto scan = folder_.scan({}, {});
  if (!scan) return failed(scan.error());
  if (auto put = catalog_->apply({.put = scan->found, .erased = {}, .used = {}}); !put) {
    return std::unexpected(put.error());
  }
  for (const auto& [name, value] : numbers) (void)catalog_->set_number(name, value);
  return RebuildReport{scan->found.size(), scan->damaged.size(), scan->unknown_versions};
}

}  // namespace samovar
