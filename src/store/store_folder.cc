#include "store/store_folder.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace samovar {
namespace {

constexpr std::size_t kModelDigits = 16;
constexpr std::size_t kPinsBytesMax = 1 << 20;
constexpr std::string_view kTemporary = ".tmp";
const std::string kPins = "pins";
const std::string kPinsTemporary = "pins.tmp";
const std::string kQuarantine = "quarantine";

std::string folder_name(const Fingerprint& model) { return model.hex().substr(0, kModelDigits); }

// "<blob name>.<number>.tmp"
bool is_temporary(std::string_view name) {
  if (!name.ends_with(kTemporary)) return false;
  name.remove_suffix(kTemporary.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return false;
  const bool number = name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return number && parse_blob_name(name.substr(0, dot)).has_value();
}

constexpr std::array<std::string_view, 12> kOwnFiles = {"lock",
                                                        "pins",
                                                        "catalog.db",
                                                        "catalog.db-wal",
                                                        "catalog.db-shm",
                                                        "catalog.db-journal",
                                                        "ledger.db",
                                                        "ledger.db-wal",
                                                        "ledger.db-shm",
                                                        "ledger.db-journal",
                                                        "ledger.db.damaged",
                                                        "ledger.db.damaged-wal"};

bool is_ours_in_root(const DirEntry& entry) {
  if (entry.directory) return entry.name == kQuarantine;
  return std::find(kOwnFiles.begin(), kOwnFiles.end(), entry.name) != kOwnFiles.end();
}

// The known blobs of one model's folder that have not been seen yet: for each, a bit per kind.
using Unseen = std::unordered_map<Identity, unsigned, IdentityHash>;

unsigned bit(BlobKind kind) { return 1U << static_cast<unsigned>(kind); }

class FolderScan {
 public:
  FolderScan(Fs& fs, const std::string& root, const std::function<bool()>& stop)
      : fs_(fs), root_(root), stop_(stop) {}

  void expect(const std::vector<BlobRecord>& known) {
    const BlobRecord* last = nullptr;
    Unseen* unseen = nullptr;
    for (const BlobRecord& record : known) {
      if (last == nullptr || last->model != record.model) {
        unseen = &unseen_[folder_name(record.model)];
      }
      last = &record;
      (*unseen)[record.identity] |= bit(record.kind);
    }
  }

  FsResult<StoreFolder::Scan> run() {
    const auto entries = fs_.list(root_, false);
    if (!entries) return std::unexpected(entries.error());
    for (const DirEntry& entry : *entries) {
      if (stopped()) return std::move(scan_);
      if (entry.directory && is_model_folder(entry.name)) {
        if (const FsStatus done = model(entry.name); !done) return std::unexpected(done.error());
      } else if (entry.name == kPinsTemporary && !entry.directory) {
        scan_.temporaries.push_back(join_path(root_, entry.name));
      } else if (!is_ours_in_root(entry)) {
        ++scan_.foreign;
      }
    }
    if (stopped()) return std::move(scan_);
    for (const auto& [folder, unseen] : unseen_) miss(unseen);  // folders that are not there
    return std::move(scan_);
  }

 private:
  bool stopped() {
    scan_.stopped = scan_.stopped || (stop_ && stop_());
    return scan_.stopped;
  }

  void miss(const Unseen& unseen) {
    for (const auto& [identity, kinds] : unseen) {
      for (const BlobKind kind : {BlobKind::segment, BlobKind::snapshot}) {
        if ((kinds & bit(kind)) != 0) scan_.missing.push_back({kind, identity});
      }
    }
  }

  // A folder that went away since it was listed is one without files.
  FsStatus model(const std::string& name) {
    const std::string folder = join_path(root_, name);
    auto entries = fs_.list(folder, false);
    if (!entries && entries.error().fault != FsFault::not_found) {
      return std::unexpected(entries.error());
    }
    Unseen unseen;
    if (const auto known = unseen_.find(name); known != unseen_.end()) {
      unseen = std::move(known->second);
      unseen_.erase(known);
    }
    std::vector<BlobName> fresh;
    for (const DirEntry& entry : entries.value_or(std::vector<DirEntry>{})) {
      const auto blob = entry.directory ? std::nullopt : parse_blob_name(entry.name);
      if (!blob) {
        other(folder, entry);
        continue;
      }
      const auto known = unseen.find(blob->identity);
      if (known != unseen.end() && (known->second & bit(blob->kind)) != 0) {
        known->second &= ~bit(blob->kind);
      } else {
        fresh.push_back(*blob);
      }
    }
    miss(unseen);
    for (const BlobName& blob : fresh) {
      if (stopped()) break;
      examine(folder, blob);
    }
    return {};
  }

  void other(const std::string& folder, const DirEntry& entry) {
    if (!entry.directory && is_temporary(entry.name)) {
      scan_.temporaries.push_back(join_path(folder, entry.name));
    } else {
      ++scan_.foreign;
    }
  }

  // A file that cannot be read now is left alone: it may be fine.
  void examine(const std::string& folder, const BlobName& name) {
    const std::string path = join_path(folder, blob_name(name.kind, name.identity));
    const auto file = fs_.stat(path);
    if (!file) {
      if (file.error().fault != FsFault::not_found) ++scan_.unreadable;
      return;
    }
    const auto blob = read_blob_header(fs_, path);
    if (blob) {
      const BlobHeader& header = blob->header;
      const bool in_place = header.kind == name.kind && header.identity == name.identity &&
                            folder.ends_with("/" + folder_name(header.model));
      if (in_place) {
        scan_.found.push_back(record_of(*blob, file->modified));
      } else {
        scan_.damaged.push_back(path);
      }
    } else if (blob.error().kind == BlobReadError::Kind::damaged) {
      scan_.damaged.push_back(path);
    } else if (blob.error().kind == BlobReadError::Kind::unknown_version) {
      ++scan_.unknown_versions;
      scan_.unknown_version_bytes += on_disk(file->bytes);
    } else if (blob.error().kind == BlobReadError::Kind::unreadable) {
      ++scan_.unreadable;
      scan_.unreadable_bytes += on_disk(file->bytes);
    }
  }

  Fs& fs_;
  const std::string& root_;
  const std::function<bool()>& stop_;
  std::unordered_map<std::string, Unseen> unseen_;  // by folder name
  StoreFolder::Scan scan_;
};

// Missing files are what removing is for.
FsStatus remove_if_there(Fs& fs, const std::string& path) {
  FsStatus removed = fs.remove(path);
  if (!removed && removed.error().fault == FsFault::not_found) return {};
  return removed;
}

FsResult<std::vector<DirEntry>> list_if_there(Fs& fs, const std::string& path) {
  auto entries = fs.list(path, true);
  if (!entries && entries.error().fault == FsFault::not_found) return std::vector<DirEntry>{};
  return entries;
}

FsStatus write_file(Fs& fs, const std::string& path, std::string_view text) {
  const auto file = fs.create(path);
  if (!file) return std::unexpected(file.error());
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (FsStatus written = (*file)->write(bytes); !written) return written;
  return (*file)->sync();
}

}  // namespace

std::string StoreFolder::model_folder(const Fingerprint& model) const {
  return join_path(root_, folder_name(model));
}

std::string StoreFolder::blob_path(const Fingerprint& model, const BlobKey& key) const {
  return join_path(model_folder(model), blob_name(key.kind, key.identity));
}

// Names of folders are durable before anything is published in them (S1).
FsStatus StoreFolder::prepare(const Fingerprint* model) {
  std::vector<std::string> folders = {root_, quarantine_folder()};
  if (model != nullptr) folders.push_back(model_folder(*model));
  for (const std::string& folder : folders) {
    if (FsStatus made = fs_.make_directory(folder); !made) return made;
  }
  // The root's own name too; a folder that may not be opened was not made by us just now.
  if (const std::size_t slash = root_.rfind('/'); slash != std::string::npos && slash > 0) {
    (void)fs_.sync_directory(root_.substr(0, slash));
  }
  return fs_.sync_directory(root_);
}

FsStatus StoreFolder::quarantine(const Fingerprint& model, const BlobKey& key) {
  return quarantine_path(blob_path(model, key));
}

FsStatus StoreFolder::quarantine_path(const std::string& path) {
  const std::string folder = quarantine_folder();
  FsStatus moved = fs_.make_directory(folder);
  if (moved) moved = fs_.rename(path, join_path(folder, path.substr(path.rfind('/') + 1)));
  // Moved or not, the name goes: a crash may have left both, and then renaming one to the other
  // does nothing.
  return remove_if_there(fs_, path);
}

FsResult<std::uint64_t> StoreFolder::quarantined_bytes() {
  const auto entries = list_if_there(fs_, quarantine_folder());
  if (!entries) return std::unexpected(entries.error());
  std::uint64_t bytes = 0;
  for (const DirEntry& entry : *entries) bytes += on_disk(entry.bytes);
  return bytes;
}

std::uint64_t StoreFolder::own_bytes() {
  std::uint64_t bytes = 0;
  for (const std::string_view name : kOwnFiles) {
    if (const auto file = fs_.stat(join_path(root_, std::string(name))))
      bytes += on_disk(file->bytes);
  }
  return bytes;
}

FsResult<std::uint64_t> StoreFolder::empty_quarantine() {
  const std::string folder = quarantine_folder();
  const auto entries = list_if_there(fs_, folder);
  if (!entries) return std::unexpected(entries.error());
  std::uint64_t bytes = 0;
  FsStatus failed;
  for (const DirEntry& entry : *entries) {
    if (FsStatus removed = remove_if_there(fs_, join_path(folder, entry.name)); !removed) {
      failed = removed;
    } else {
      bytes += on_disk(entry.bytes);
    }
  }
  if (!failed && bytes == 0) return std::unexpected(failed.error());
  return bytes;
}

FsResult<StoreFolder::Scan> StoreFolder::scan(const std::vector<BlobRecord>& known,
                                              const std::function<bool()>& stop) {
  FolderScan scan(fs_, root_, stop);
  scan.expect(known);
  return scan.run();
}

FsResult<std::vector<Identity>> StoreFolder::read_pins() {
  std::vector<Identity> pins;
  const auto file = fs_.open(join_path(root_, kPins));
  if (!file && file.error().fault == FsFault::not_found) return pins;
  if (!file) return std::unexpected(file.error());
  std::string text(std::min<std::uint64_t>((*file)->size(), kPinsBytesMax), '\0');
  const MutableBytes into(reinterpret_cast<std::uint8_t*>(text.data()), text.size());
  const auto read = (*file)->read_at(0, into);
  if (!read) return std::unexpected(read.error());
  text.resize(*read);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const auto pin = Identity::from_hex(std::string_view(text).substr(at, end - at));
    if (pin && std::find(pins.begin(), pins.end(), *pin) == pins.end()) pins.push_back(*pin);
    at = end + 1;
  }
  return pins;
}

FsStatus StoreFolder::write_pins(const std::vector<Identity>& pins) {
  std::string text;
  for (const Identity& pin : pins) text += pin.hex() + "\n";
  const std::string temporary = join_path(root_, kPinsTemporary);
  if (FsStatus removed = remove_if_there(fs_, temporary); !removed) return removed;
  FsStatus done = write_file(fs_, temporary, text);
  if (done) done = fs_.rename(temporary, join_path(root_, kPins));
  if (done) return fs_.sync_directory(root_);
  (void)remove_if_there(fs_, temporary);
  return done;
}

bool is_model_folder(std::string_view name) {
  return name.size() == kModelDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

BlobRecord record_of(const DecodedBlob& blob, std::int64_t modified) {
  const BlobHeader& header = blob.header;
  BlobRecord record;
  record.kind = header.kind;
  record.model = header.model;
  record.identity = header.identity;
  record.parent = header.parent;
  record.begin = header.begin;
  record.end = header.end;
  record.payload_bytes = header.payload_bytes;
  record.file_bytes = blob.file_bytes();
  record.anchor = header.anchor;
  record.canonical = header.canonical;
  record.session = header.session;
  record.cost = header.cost;
  record.created = header.created;
  record.last_used = modified;
  record.label = header.label;
  return record;
}

}  // namespace samovar
