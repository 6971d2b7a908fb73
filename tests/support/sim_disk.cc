#include "tests/support/sim_disk.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tests/support/sim_crash.h"

namespace samovar {
namespace {

// So many changes of names a folder keeps back; older ones are on the medium by themselves, as a
// journal writes them every few seconds.
constexpr std::size_t kUnsyncedMax = 1024;

std::unexpected<FsError> refuse(FsFault fault, std::string reason) {
  return std::unexpected(FsError{fault, std::move(reason)});
}

std::unexpected<FsError> not_found() {
  return refuse(FsFault::not_found, "No such file or directory");
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : path + "/") {
    if (c != '/') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, {}));
    }
  }
  return parts;
}

std::uint64_t on_medium(std::size_t bytes) {
  return (bytes + SimDisk::kPage - 1) / SimDisk::kPage * SimDisk::kPage;
}

void make_durable(SimNode& folder, std::size_t count) {
  const auto end = folder.unsynced.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto change = folder.unsynced.begin(); change != end; ++change) {
    for (SimFate* fate = change->fate.get(); fate != nullptr; fate = fate->only_if.get()) {
      fate->survives = true;
    }
    apply_change(*change, folder.durable_entries);
  }
  folder.unsynced.erase(folder.unsynced.begin(), end);
}

void remember(SimNode& folder, SimNameChange change) {
  folder.unsynced.push_back(std::move(change));
  if (folder.unsynced.size() > kUnsyncedMax) make_durable(folder, kUnsyncedMax / 2);
}

void sync_tree(SimNode& node) {
  if (!node.directory) return SimDisk::sync_file(node);
  SimDisk::sync_names(node);
  for (const auto& [name, child] : node.live) sync_tree(*child);
}

void collect(const SimNode& folder, const std::string& path, std::vector<std::string>& into) {
  for (const auto& [name, child] : folder.live) {
    into.push_back(path + "/" + name + (child->directory ? "/" : ""));
    if (child->directory) collect(*child, path + "/" + name, into);
  }
}

}  // namespace

SimDisk::SimDisk(std::uint64_t capacity)
    : root_(std::make_shared<SimNode>(SimNode{.directory = true})), capacity_(capacity) {}

SimNodePtr SimDisk::find(const std::string& path) const {
  SimNodePtr node = root_;
  for (const std::string& part : parts_of(path)) {
    const auto found = node->live.find(part);  // files have no entries
    if (found == node->live.end()) return nullptr;
    node = found->second;
  }
  return node;
}

SimDisk::Place SimDisk::place_of(const std::string& path) const {
  std::vector<std::string> parts = parts_of(path);
  if (parts.empty()) return {};
  std::string name = std::move(parts.back());
  parts.pop_back();
  std::string above;
  for (const std::string& part : parts) above += "/" + part;
  SimNodePtr folder = find(above);
  if (folder && !folder->directory) folder = nullptr;
  return {std::move(folder), std::move(name)};
}

void SimDisk::link(SimNode& folder, const std::string& name, SimNodePtr node,
                   std::shared_ptr<SimFate> fate) {
  if (++node->links == 1) used_ += on_medium(node->bytes.size());
  folder.live[name] = node;
  remember(folder, {.name = name, .node = std::move(node), .fate = std::move(fate)});
}

void SimDisk::unlink(SimNode& folder, const std::string& name, std::shared_ptr<SimFate> fate) {
  const auto found = folder.live.find(name);
  SimNode& node = *found->second;
  if (--node.links == 0) used_ -= on_medium(node.bytes.size());
  remember(folder, {.name = name, .node = nullptr, .fate = std::move(fate)});
  folder.live.erase(found);
}

FsResult<SimNodePtr> SimDisk::create(const std::string& path, bool directory, std::int64_t now) {
  const Place place = place_of(path);
  if (!place.folder) return not_found();
  if (place.folder->live.contains(place.name)) return refuse(FsFault::exists, "File exists");
  auto node = std::make_shared<SimNode>(
      SimNode{.directory = directory, .modified = now, .durable_modified = now});
  link(*place.folder, place.name, node, std::make_shared<SimFate>());
  return node;
}

FsStatus SimDisk::make_directory(const std::string& path, std::int64_t now) {
  std::string above;
  const std::vector<std::string> parts = parts_of(path);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    above += "/" + parts[i];
    const SimNodePtr node = find(above);
    if (node && node->directory) continue;
    if (node && i + 1 < parts.size()) return refuse(FsFault::not_found, "Not a directory");
    const auto made = create(above, true, now);
    if (!made) return std::unexpected(made.error());
  }
  return {};
}

FsStatus SimDisk::remove(const std::string& path) {
  const Place place = place_of(path);
  if (!place.folder || !place.folder->live.contains(place.name)) return not_found();
  if (!place.folder->live[place.name]->live.empty()) {
    return refuse(FsFault::other, "Directory not empty");
  }
  unlink(*place.folder, place.name, std::make_shared<SimFate>());
  return {};
}

void SimDisk::remove_tree(const std::string& path) {
  const SimNodePtr node = find(path);
  if (!node) return;
  const SimEntries below = node->live;
  for (const auto& [name, child] : below) remove_tree(join_path(path, name));
  [[maybe_unused]] const FsStatus gone = remove(path);
}

FsStatus SimDisk::rename(const std::string& from, const std::string& to) {
  const Place old_place = place_of(from);
  const Place new_place = place_of(to);
  const SimNodePtr node = find(from);
  if (!node || !old_place.folder || !new_place.folder) return not_found();
  const bool within = old_place.folder == new_place.folder;
  if (node->directory && !within) {
    return refuse(FsFault::other, "folders do not move in this simulation");
  }
  const SimNodePtr target = find(to);
  if (target == node) return {};
  if (target && target->directory) return refuse(FsFault::other, "Is a directory");
  if (target && node->directory) return refuse(FsFault::other, "Not a directory");

  const auto arrives = std::make_shared<SimFate>();
  const auto leaves = within ? arrives : std::make_shared<SimFate>(SimFate{.only_if = arrives});
  if (target && --target->links == 0) used_ -= on_medium(target->bytes.size());
  link(*new_place.folder, new_place.name, node, arrives);
  unlink(*old_place.folder, old_place.name, leaves);
  return {};
}

void SimDisk::resize(SimNode& file, std::size_t size) {
  if (file.links > 0) used_ += on_medium(size) - on_medium(file.bytes.size());
  file.bytes.resize(size);
}

std::size_t SimDisk::append(SimNode& file, Bytes bytes) {
  const std::size_t old_size = file.bytes.size();
  std::size_t count = bytes.size();
  if (file.links > 0) {
    const std::uint64_t free = capacity_ > used_ ? (capacity_ - used_) / kPage * kPage : 0;
    const std::uint64_t room = free + on_medium(old_size) - old_size;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, room));
  }
  resize(file, old_size + count);
  std::copy_n(bytes.begin(), count, file.bytes.begin() + static_cast<std::ptrdiff_t>(old_size));
  return count;
}

std::size_t SimDisk::replace(SimNode& file, Bytes bytes) {
  truncate(file, 0);
  return append(file, bytes);
}

void SimDisk::truncate(SimNode& file, std::size_t size) {
  resize(file, std::min(size, file.bytes.size()));
  file.durable = std::min(file.durable, file.bytes.size());
}

void SimDisk::write_raw(const std::string& path, Bytes bytes, std::int64_t now) {
  if (!find(path)) {
    [[maybe_unused]] const FsStatus parents = make_directory(path.substr(0, path.rfind('/')), now);
    [[maybe_unused]] const FsResult<SimNodePtr> made = create(path, false, now);
    assert(parents && made);
  }
  SimNode& file = *find(path);
  resize(file, bytes.size());
  std::ranges::copy(bytes, file.bytes.begin());
  file.modified = now;
  file.sync_failed = false;
  sync_file(file);
  SimNodePtr folder = root_;
  for (const std::string& part : parts_of(path)) {
    std::erase_if(folder->unsynced,
                  [&](const SimNameChange& change) { return change.name == part; });
    folder->durable_entries[part] = folder->live[part];
    folder = folder->live[part];
  }
}

void SimDisk::sync_file(SimNode& file) {
  if (file.sync_failed) return;
  file.durable = file.bytes.size();
  file.durable_modified = file.modified;
}

void SimDisk::sync_names(SimNode& folder) { make_durable(folder, folder.unsynced.size()); }

void SimDisk::sync_all() { sync_tree(*root_); }

void SimDisk::crash(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<SimNode*> seen;
  used_ = 0;
  settle_names(*root_, random, seen);
}

void SimDisk::settle_names(SimNode& folder, std::mt19937_64& random, std::set<SimNode*>& seen) {
  for (const SimNameChange& change : std::exchange(folder.unsynced, {})) {
    if (survives(*change.fate, random)) apply_change(change, folder.durable_entries);
  }
  folder.live = folder.durable_entries;
  for (const auto& [name, child] : folder.live) {
    const bool first = seen.insert(child.get()).second;
    child->links = first ? 1 : child->links + 1;
    if (!first) continue;
    settle_bytes(*child, random);
    used_ += on_medium(child->bytes.size());
    if (child->directory) settle_names(*child, random, seen);
  }
}

std::vector<std::string> SimDisk::paths() const {
  std::vector<std::string> all;
  collect(*root_, "", all);
  return all;
}

}  // namespace samovar
