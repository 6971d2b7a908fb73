#include "hub/remove_models.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "hub/gguf_name.h"
#include "hub/hub_errors.h"

namespace samovar::hub {
namespace {

bool is_meant(const std::string& path, const std::string& quant) {
  if (!path.ends_with(".gguf")) return false;
  if (quant.empty() || path == quant) return true;
  if (!is_model_file(path)) return false;
  const bool dynamic = has_quant(path, "UD-" + quant);  // another model than the plain one
  return has_quant(path, quant) && !dynamic;
}

FsStatus remove_if_there(Fs& fs, const std::string& path) {
  auto gone = fs.remove(path);
  if (!gone && gone.error().fault == FsFault::not_found) return {};
  return gone;
}

// The folders from `path` up to `top` that are empty now.
void remove_empty_folders(Fs& fs, std::string path, const std::string& top) {
  while (path.size() >= top.size() && path.starts_with(top)) {
    if (!fs.remove(path)) return;
    path.resize(path.rfind('/'));
  }
}

// A repository without any snapshot or blob leaves nothing behind.
void remove_empty_repo(CacheFs& fs, const CacheLayout& layout) {
  for (const std::string& folder : {layout.snapshots(), layout.blobs()}) {
    const auto entries = fs.list(folder, false);
    if (entries && !entries->empty()) return;
  }
  const auto refs = fs.list(layout.refs(), false);
  if (refs && std::ranges::any_of(*refs, [](const DirEntry& e) { return e.name != "main"; }))
    return;
  for (const std::string& path :
       {layout.main_ref(), layout.refs(), layout.snapshots(), layout.blobs(), layout.folder()}) {
    [[maybe_unused]] const auto ignored = fs.remove(path);
  }
}

}  // namespace

Removal plan_removal(const CachedRepo& cached, const CacheLayout& layout,
                     const std::string& quant) {
  Removal removal;
  std::map<std::string, std::uint64_t> going;  // blobs and their bytes
  std::set<std::string> staying;
  std::set<std::string> models;
  for (const CachedSnapshot& snapshot : cached.snapshots) {
    for (const CachedFile& file : snapshot.files) {
      if (!is_meant(file.path, quant)) {
        if (!file.blob.empty()) staying.insert(file.blob);
        continue;
      }
      removal.links.push_back(layout.file(snapshot.commit, file.path));
      const auto split = parse_split(file.path);
      models.insert(split ? split->path_of(1) : file.path);
      if (file.blob.empty()) removal.bytes += file.bytes;
      if (!file.blob.empty()) going[file.blob] = file.bytes;
    }
  }
  for (const auto& [blob, bytes] : going) {
    if (staying.contains(blob)) {
      removal.kept += bytes;
    } else {
      removal.blobs.push_back(blob);
      removal.bytes += bytes;
    }
  }
  for (const PartialBlob& partial : cached.partials) {
    const bool meant = partial.path.empty() ? quant.empty() : is_meant(partial.path, quant);
    if (!meant) continue;
    removal.partial.push_back(partial.blob);
    removal.bytes += partial.bytes;
    if (!partial.path.empty()) models.insert(partial.path);
  }
  removal.models.assign(models.begin(), models.end());
  return removal;
}

Status remove_models(CacheFs& fs, const CacheLayout& layout, const Removal& removal,
                     const std::string& owner) {
  const auto check = [](const FsStatus& status) -> Status {
    if (!status) return std::unexpected(disk_error(status.error()));
    return {};
  };
  if (auto made = check(fs.make_shared_directory(layout.locks())); !made) return made;
  std::vector<std::unique_ptr<FileLock>> locks;
  std::vector<std::string> blobs = removal.blobs;
  blobs.insert(blobs.end(), removal.partial.begin(), removal.partial.end());
  std::ranges::sort(blobs);
  for (const std::string& blob : blobs) {
    auto lock = fs.lock(layout.lock(blob), owner);
    if (!lock && lock.error().fault == FsFault::exists) {
      return fail(ErrorKind::unavailable, "it is being downloaded: " + lock.error().message, "",
                  "Stop that first");
    }
    if (!lock) return std::unexpected(disk_error(lock.error()));
    locks.push_back(std::move(*lock));
  }
  for (const std::string& link : removal.links) {
    if (auto gone = check(remove_if_there(fs, link)); !gone) return gone;
    remove_empty_folders(fs, link.substr(0, link.rfind('/')), layout.snapshots() + "/");
  }
  for (const std::string& blob : removal.blobs) {
    if (auto gone = check(remove_if_there(fs, layout.blob(blob))); !gone) return gone;
  }
  for (const std::string& blob : removal.partial) {
    if (auto gone = check(remove_if_there(fs, layout.about(blob))); !gone) return gone;
    if (auto gone = check(remove_if_there(fs, layout.incomplete(blob))); !gone) return gone;
  }
  remove_empty_repo(fs, layout);
  return {};
}

}  // namespace samovar::hub
