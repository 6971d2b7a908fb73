#include "hub/cache_layout.h"

#include <algorithm>

namespace samovar::hub {
namespace {

constexpr std::string_view kModels = "models--";
constexpr std::string_view kBlobs = "blobs/";

std::string joined(std::string_view folder, std::string_view name) {
  std::string path(folder);
  path += '/';
  path += name;
  return path;
}

// The separator "/" is spelled "--".
std::string folder_name(std::string_view repo) {
  std::string name(kModels);
  for (const char c : repo) name += c == '/' ? std::string("--") : std::string(1, c);
  return name;
}

}  // namespace

CacheLayout::CacheLayout(std::string root, std::string repo)
    : root_(std::move(root)), repo_(std::move(repo)) {
  while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
}

std::string CacheLayout::folder() const { return joined(root_, folder_name(repo_)); }
std::string CacheLayout::blob(std::string_view name) const { return joined(blobs(), name); }
std::string CacheLayout::incomplete(std::string_view name) const {
  return blob(name) + ".incomplete";
}
std::string CacheLayout::about(std::string_view name) const { return incomplete(name) + ".about"; }
std::string CacheLayout::snapshot(std::string_view commit) const {
  return joined(snapshots(), commit);
}
std::string CacheLayout::file(std::string_view commit, std::string_view path) const {
  return joined(snapshot(commit), path);
}
std::string CacheLayout::locks() const { return root_ + "/.locks/" + folder_name(repo_); }
std::string CacheLayout::lock(std::string_view name) const {
  return joined(locks(), name) + ".lock";
}

std::string CacheLayout::new_ref(std::string_view unique) const {
  return joined(locks(), unique) + ".ref";
}

std::string link_target(std::string_view path, std::string_view blob_name) {
  std::string target = "../../";
  for (const char c : path) {
    if (c == '/') target += "../";
  }
  return target + std::string(kBlobs) + std::string(blob_name);
}

std::optional<std::string> blob_of_target(std::string_view target) {
  if (!target.starts_with("../")) return std::nullopt;
  while (target.starts_with("../")) target.remove_prefix(3);
  if (!target.starts_with(kBlobs)) return std::nullopt;
  target.remove_prefix(kBlobs.size());
  if (target.empty() || target.find('/') != std::string_view::npos) return std::nullopt;
  return std::string(target);
}

std::optional<std::string> repo_of_folder(std::string_view folder) {
  if (!folder.starts_with(kModels)) return std::nullopt;
  folder.remove_prefix(kModels.size());
  const std::size_t at = folder.find("--");
  if (folder.empty() || at == 0) return std::nullopt;
  if (at == std::string_view::npos) return std::string(folder);  // a repository without owner
  return joined(folder.substr(0, at), folder.substr(at + 2));
}

}  // namespace samovar::hub
