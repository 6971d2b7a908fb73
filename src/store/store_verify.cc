// StoreAdmin, the parts that go by the files' names alone: checking every blob, removing them all.
#include <algorithm>
#include <set>
#include <utility>

#include "store/store_admin.h"

namespace samovar {
namespace {

std::unexpected<Error> failed(const FsError& error) {
  return fail(ErrorKind::internal, error.message);
}

}  // namespace

Result<std::vector<StoreAdmin::File>> StoreAdmin::blob_files() {
  std::vector<File> files;
  const auto folders = fs_.list(folder_.root(), false);
  if (!folders) return failed(folders.error());
  for (const DirEntry& folder : *folders) {
    if (!folder.directory || !is_model_folder(folder.name)) continue;
    const std::string path = join_path(folder_.root(), folder.name);
    const auto entries = fs_.list(path, true);
    if (!entries && entries.error().fault == FsFault::not_found) continue;
    if (!entries) return failed(entries.error());
    for (const DirEntry& entry : *entries) {
      const auto name = entry.directory ? std::nullopt : parse_blob_name(entry.name);
      if (name) files.push_back({join_path(path, entry.name), folder.name, *name, entry.bytes});
    }
  }
  std::ranges::sort(files, {}, &File::path);
  return files;
}

void StoreAdmin::verify_file(const File& file, bool quick, VerifyReport& report,
                             std::vector<BlobRecord>& good) {
  using Kind = BlobReadError::Kind;
  const auto blob = quick ? read_blob_header(fs_, file.path) : verify_blob(fs_, file.path);
  if (!blob) {
    const BlobReadError& error = blob.error();
    if (error.kind == Kind::missing) return;  // evicted since it was listed
    if (error.kind == Kind::unknown_version) return report.unknown_versions.add(file.bytes);
    report.bad.push_back({file.path, error.message, error.kind == Kind::damaged});
    return;
  }
  const BlobHeader& header = blob->header;
  const bool in_place = header.kind == file.name.kind && header.identity == file.name.identity &&
                        folder_.model_folder(header.model).ends_with("/" + file.folder);
  if (!in_place) {
    report.bad.push_back({file.path, file.path + ": its name is that of another blob"});
    return;
  }
  report.good.add(file.bytes);
  good.push_back(record_of(*blob, 0));
}

void StoreAdmin::quarantine_bad(std::vector<BadFile>& files) {
  Catalog::Changes changes;
  for (BadFile& bad : files) {
    if (!bad.damaged) continue;
    bad.repaired = folder_.quarantine_path(bad.path).has_value();
    const auto name = parse_blob_name(std::string_view(bad.path).substr(bad.path.rfind('/') + 1));
    if (bad.repaired && name) changes.erased.push_back({name->kind, name->identity});
  }
  apply(changes);
}

Result<VerifyReport> StoreAdmin::verify(bool quick, bool repair, const Progress& progress) {
  const auto files = blob_files();
  if (!files) return std::unexpected(files.error());
  FileCount all;
  for (const File& file : *files) all.add(file.bytes);
  FileCount done;
  VerifyReport report;
  StoreContents good;
  for (const File& file : *files) {
    if (progress) progress(done, all);
    verify_file(file, quick, report, good.records);
    done.add(file.bytes);
  }
  if (repair) quarantine_bad(report.bad);
  const auto lost = unreachable_blobs(good);
  const std::set<BlobKey> unreachable(lost.begin(), lost.end());
  for (const BlobRecord& record : good.records) {
    if (unreachable.contains({record.kind, record.identity})) {
      report.unreachable.add(record.file_bytes);
    }
  }
  return report;
}

Result<FileCount> StoreAdmin::remove_everything() {
  auto contents = look();
  if (!contents) return std::unexpected(contents.error());
  auto count = remove_remains(*contents);
  if (!count) return count;
  const auto files = blob_files();
  if (!files) return std::unexpected(files.error());
  for (const File& file : *files) {
    if (auto status = remove_file(file.path, *count); !status) {
      return std::unexpected(status.error());
    }
  }
  for (const File& file : *files) {
    const std::string folder = join_path(folder_.root(), file.folder);
    (void)fs_.sync_directory(folder);
    (void)fs_.remove(folder);
  }
  if (auto status = set_pins({}); !status) return std::unexpected(status.error());
  if (auto made = options_.catalog ? rebuild() : RebuildReport{}; !made) {
    return std::unexpected(made.error());
  }
  return count;
}

}  // namespace samovar
