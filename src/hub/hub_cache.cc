#include "hub/hub_cache.h"

#include <algorithm>
#include <map>
#include <set>

#include "hub/gguf_name.h"
#include "hub/partial_note.h"
#include "hub/repo_ref.h"

namespace samovar::hub {
namespace {

constexpr int kDepthMax = 8;  // of folders in a repository
constexpr std::string_view kIncomplete = ".incomplete";

std::vector<DirEntry> entries_of(Fs& fs, const std::string& folder) {
  auto entries = fs.list(folder, true);
  return entries ? std::move(*entries) : std::vector<DirEntry>();
}

CachedFile look_at(CacheFs& fs, const std::string& full, std::string path) {
  CachedFile file{.path = std::move(path), .blob = {}};
  if (const auto target = fs.read_link(full)) file.blob = blob_of_target(*target).value_or("");
  if (const auto found = fs.stat(full); found && !found->directory) {
    file.bytes = found->bytes;
    file.modified = found->modified;
    file.present = true;
  }
  return file;
}

void add_files(CacheFs& fs, const std::string& folder, const std::string& inside, int depth,
               std::vector<CachedFile>& files) {
  for (const DirEntry& entry : entries_of(fs, folder)) {
    const std::string path = inside.empty() ? entry.name : inside + "/" + entry.name;
    if (entry.directory) {
      if (depth > 0) add_files(fs, join_path(folder, entry.name), path, depth - 1, files);
      continue;
    }
    files.push_back(look_at(fs, join_path(folder, entry.name), path));
  }
}

std::string main_commit(CacheFs& fs, const CacheLayout& layout) {
  std::string text = read_text(fs, layout.main_ref()).value_or("");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::vector<PartialBlob> partials_of(CacheFs& fs, const CacheLayout& layout) {
  std::vector<PartialBlob> partials;
  for (const DirEntry& entry : entries_of(fs, layout.blobs())) {
    if (entry.directory || !entry.name.ends_with(kIncomplete)) continue;
    PartialBlob partial{.blob = entry.name.substr(0, entry.name.size() - kIncomplete.size()),
                        .path = {},
                        .bytes = entry.bytes,
                        .modified = entry.modified};
    if (const auto text = read_text(fs, layout.about(partial.blob))) {
      if (const auto note = parse_note(*text); note && is_safe_path(note->path)) {
        partial.path = note->path;
        partial.total = note->bytes;
      }
    }
    partials.push_back(std::move(partial));
  }
  std::ranges::sort(partials, {}, &PartialBlob::blob);
  return partials;
}

std::string quant_or_name(const std::string& path) {
  std::string quant = quant_of(path);
  return quant.empty() ? stem_of(path) : quant;
}

// The files of one model of a snapshot, by the name they share.
using Groups = std::map<std::string, std::vector<const CachedFile*>>;

Groups group(const CachedSnapshot& snapshot) {
  Groups groups;
  for (const CachedFile& file : snapshot.files) {
    if (!is_model_file(file.path)) continue;
    const auto split = parse_split(file.path);
    groups[split ? split->path_of(1) : file.path].push_back(&file);
  }
  for (auto& [first, files] : groups) std::ranges::sort(files, {}, &CachedFile::path);
  return groups;
}

CachedModel model_of(const std::vector<const CachedFile*>& files, const std::string& first) {
  CachedModel model;
  model.quant = quant_or_name(first);
  const auto split = parse_split(first);
  for (int part = 1; part <= (split ? split->parts : 1); ++part) {
    const std::string path = split ? split->path_of(part) : first;
    const auto found = std::ranges::find(files, path, &CachedFile::path);
    if (found == files.end() || !(*found)->present) {
      model.missing.push_back(path);
    } else {
      model.bytes += (*found)->bytes;
      model.modified = std::max(model.modified, (*found)->modified);
    }
    if (found != files.end()) model.files.push_back(path);
  }
  model.complete = model.missing.empty();
  model.total = model.complete ? model.bytes : 0;
  return model;
}

std::string contents_of(const std::vector<const CachedFile*>& files) {
  std::string key;
  for (const CachedFile* file : files) key += file->path + "\n" + file->blob + "\n";
  return key;
}

}  // namespace

CachedRepo scan_repo(CacheFs& fs, const CacheLayout& layout) {
  CachedRepo cached{.repo = layout.repo(), .snapshots = {}, .partials = partials_of(fs, layout)};
  const std::string main = main_commit(fs, layout);
  std::map<std::string, std::int64_t> ages;
  for (const DirEntry& entry : entries_of(fs, layout.snapshots())) {
    if (!entry.directory) continue;
    CachedSnapshot snapshot{.commit = entry.name, .main = entry.name == main, .files = {}};
    add_files(fs, layout.snapshot(entry.name), "", kDepthMax, snapshot.files);
    std::ranges::sort(snapshot.files, {}, &CachedFile::path);
    ages[entry.name] = entry.modified;
    cached.snapshots.push_back(std::move(snapshot));
  }
  std::ranges::sort(cached.snapshots, [&](const CachedSnapshot& a, const CachedSnapshot& b) {
    if (a.main != b.main) return a.main;
    const auto age_a = ages[a.commit];
    const auto age_b = ages[b.commit];
    return age_a != age_b ? age_a > age_b : a.commit < b.commit;
  });
  return cached;
}

std::vector<CachedRepo> scan_cache(CacheFs& fs, const std::string& root) {
  std::vector<CachedRepo> repos;
  for (const DirEntry& entry : entries_of(fs, root)) {
    const auto repo = repo_of_folder(entry.name);
    if (entry.directory && repo) repos.push_back(scan_repo(fs, CacheLayout(root, *repo)));
  }
  std::ranges::sort(repos, {}, &CachedRepo::repo);
  return repos;
}

std::vector<RepoFile> files_of(const CachedSnapshot& snapshot) {
  std::vector<RepoFile> files;
  for (const CachedFile& file : snapshot.files) {
    if (file.present) files.push_back({.path = file.path, .blob = file.blob, .bytes = file.bytes});
  }
  return files;
}

std::vector<CachedModel> models_of(const CachedRepo& cached, const CacheLayout& layout) {
  std::vector<CachedModel> models;
  std::set<std::string> seen;
  for (const CachedSnapshot& snapshot : cached.snapshots) {
    for (const auto& [first, files] : group(snapshot)) {
      if (!seen.insert(contents_of(files)).second) continue;
      CachedModel model = model_of(files, first);
      model.repo = cached.repo;
      model.path = layout.file(snapshot.commit, model.files.empty() ? first : model.files.front());
      model.current = snapshot.main;
      models.push_back(std::move(model));
    }
  }
  for (const PartialBlob& partial : cached.partials) {
    const auto whole = std::ranges::find_if(models, [&](const CachedModel& model) {
      return std::ranges::find(model.missing, partial.path) != model.missing.end();
    });
    if (whole != models.end()) {  // a part of a model whose other parts are there
      whole->bytes += partial.bytes;
      continue;
    }
    CachedModel model;
    model.repo = cached.repo;
    model.quant = partial.path.empty() ? "unknown" : quant_or_name(partial.path);
    model.path = layout.incomplete(partial.blob);
    if (!partial.path.empty()) model.files = {partial.path};
    if (!partial.path.empty()) model.missing = {partial.path};
    model.bytes = partial.bytes;
    model.total = partial.total;
    model.modified = partial.modified;
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace samovar::hub
