#include "store/store_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace samovar {
namespace {

std::unexpected<Error> failed(const FsError& error, std::string remedy = "") {
  return fail(ErrorKind::internal, error.message, "", std::move(remedy));
}

// "/a/b" -> "/a", "b" -> ".".
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::vector<const BlobRecord*> chosen(const StoreFamily& family, const StoreTarget& target) {
  if (target.session) return family.chains_of(*target.session);
  auto records = family.chain(target.node);
  const BlobRecord* snapshot = family.snapshot(target.node);
  if (!records.empty() && snapshot != nullptr) records.push_back(snapshot);
  return records;
}

Result<BundleWriter> write_all(StoreAdmin& admin, const std::vector<const BlobRecord*>& records,
                               const std::string& path) {
  auto writer = BundleWriter::create(admin.fs(), path, admin.clock().wall_seconds());
  if (!writer) return writer;
  Status status;
  for (const BlobRecord* record : records) {
    if (!status) break;
    const BlobKey key = key_of(*record);
    status = writer->add(admin.folder().blob_path(record->model, key), key);
  }
  if (status) status = writer->finish();
  if (status) return writer;
  (void)admin.fs().remove(path);
  return std::unexpected(status.error());
}

// A bundle on its way into a store: what has been written so far, and is not there before
// publish().
class Import {
 public:
  Import(StoreAdmin& admin, const StoreContents& contents) : admin_(admin) {
    for (const BlobRecord& record : contents.records) {
      there_.emplace(key_of(record), record.model);
      models_before_.insert(record.model);
    }
  }
  ~Import() {
    for (const Pending& pending : pending_) (void)admin_.fs().remove(pending.temporary);
  }
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  Status take(BundleReader& bundle, const DecodedBlob& blob);
  Status publish();
  [[nodiscard]] ImportReport report() const;

 private:
  struct Pending {
    std::string temporary;
    std::string path;
    BlobRecord record;
  };
  [[nodiscard]] bool stands(const BlobRecord& record) const;
  Status write(BundleReader& bundle, const Pending& pending);

  StoreAdmin& admin_;
  std::map<BlobKey, Fingerprint> there_;  // in the store, or taken
  std::set<Fingerprint> models_before_;
  std::set<Fingerprint> prepared_;  // models that have a folder
  std::set<SessionId> sessions_;
  std::map<Fingerprint, ImportedModel> models_;
  std::vector<Pending> pending_;
  ImportReport counts_;
};

// Only what something can match comes in (S5).
bool Import::stands(const BlobRecord& record) const {
  const auto has = [&](const Identity& node) {
    const auto at = there_.find({BlobKind::segment, node});
    return at != there_.end() && at->second == record.model;
  };
  if (record.kind == BlobKind::snapshot) return has(record.identity);
  return record.begin == 0 || has(record.parent);
}

Status Import::take(BundleReader& bundle, const DecodedBlob& blob) {
  const BlobRecord record = record_of(blob, admin_.clock().wall_seconds());
  const BlobKey key = key_of(record);
  if (!possible(record) || !stands(record)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} continues a prefix that is neither in the bundle nor in the store",
                            blob_name(key.kind, key.identity)),
                "", "Nothing was taken in. Export the session again");
  }
  ImportedModel& model = models_[record.model];
  model = {record.model, record.label, model.blobs + 1, models_before_.contains(record.model)};
  if (record.session.known()) sessions_.insert(record.session);
  if (!there_.emplace(key, record.model).second) {
    ++counts_.there;
    return bundle.copy({});
  }
  const std::string path = admin_.folder().blob_path(record.model, key);
  pending_.push_back({path + ".0.tmp", path, record});
  return write(bundle, pending_.back());
}

Status Import::write(BundleReader& bundle, const Pending& pending) {
  Fs& fs = admin_.fs();
  if (prepared_.insert(pending.record.model).second) {
    const FsStatus made = admin_.folder().prepare(&pending.record.model);
    if (!made) return failed(made.error());
  }
  (void)fs.remove(pending.temporary);  // of an import that was killed; we hold the lock
  auto file = fs.create(pending.temporary);
  if (!file) return failed(file.error());
  const auto copied = bundle.copy([&](Bytes bytes) { return (*file)->write(bytes); });
  if (!copied) return copied;
  if (const FsStatus synced = (*file)->sync(); !synced) return failed(synced.error());
  return {};
}

// In the order they came: parents first. If it fails half-way, what was published is removed again.
Status Import::publish() {
  Fs& fs = admin_.fs();
  std::set<std::string> folders;
  FsStatus status;
  std::size_t named = 0;
  for (; named < pending_.size() && status; ++named) {
    status = fs.rename(pending_[named].temporary, pending_[named].path);
    folders.insert(folder_of(pending_[named].path));
  }
  for (const std::string& folder : folders) {
    if (status) status = fs.sync_directory(folder);
  }
  if (!status) {
    while (named > 0) (void)fs.remove(pending_[--named].path);
    return failed(status.error(), "Nothing was taken in");
  }
  std::vector<BlobRecord> records;
  for (const Pending& pending : pending_) {
    counts_.bytes += on_disk(pending.record.file_bytes);
    records.push_back(pending.record);
  }
  counts_.taken = pending_.size();
  pending_.clear();
  admin_.took_in(records);
  return {};
}

ImportReport Import::report() const {
  ImportReport report = counts_;
  report.sessions = sessions_.size();
  for (const auto& [fingerprint, model] : models_) report.models.push_back(model);
  return report;
}

}  // namespace

Result<ExportReport> export_bundle(StoreAdmin& admin, const StoreContents& contents,
                                   const StoreTarget& target, const std::string& file) {
  Fs& fs = admin.fs();
  if (fs.stat(file)) {
    return fail(ErrorKind::invalid_argument, file + " exists", "FILE",
                "Remove it, or choose another name");
  }
  const StoreFamily family(contents.records);
  const auto records = chosen(family, target);
  if (records.empty()) {
    return fail(ErrorKind::not_found,
                "nothing of it has a whole chain, so it would be of no use anywhere", "",
                "`samovar cache gc` removes it");
  }
  const std::string temporary = file + ".part";
  auto writer = write_all(admin, records, temporary);
  if (!writer) return std::unexpected(writer.error());
  FsStatus named = fs.rename(temporary, file);
  if (named) named = fs.sync_directory(folder_of(file));
  if (!named) {
    (void)fs.remove(temporary);
    return failed(named.error());
  }
  ExportReport report{writer->blobs(), writer->bytes()};
  std::uint64_t wanted = 0;
  std::uint64_t written = 0;
  for (const BlobRecord& record : contents.records) wanted += target.has(record) ? 1 : 0;
  for (const BlobRecord* record : records) {
    written += target.has(*record) ? 1 : 0;
    report.tokens = std::max(report.tokens, record->end);
  }
  report.left_out = wanted - written;
  return report;
}

Result<ImportReport> import_bundle(StoreAdmin& admin, const StoreContents& contents,
                                   const std::string& file) {
  auto bundle = BundleReader::open(admin.fs(), file);
  if (!bundle) return std::unexpected(bundle.error());
  if (contents.space.total > 0 && bundle->size() > contents.space.free) {
    return fail(ErrorKind::internal,
                fmt::format("{} has {} MiB, and only {} MiB are free in {}", file,
                            bundle->size() >> 20, contents.space.free >> 20, admin.folder().root()),
                "", "Make room; `samovar cache gc --size` shrinks the store");
  }
  Import import(admin, contents);
  while (true) {
    auto blob = bundle->next();
    if (!blob) return std::unexpected(blob.error());
    if (!*blob) break;
    if (auto status = import.take(*bundle, **blob); !status) {
      return std::unexpected(status.error());
    }
  }
  if (auto status = import.publish(); !status) return std::unexpected(status.error());
  return import.report();
}

}  // namespace samovar
