#include "hub/file_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hub/gguf_name.h"

namespace samovar::hub {
namespace {

constexpr const char* kDefaults[] = {"Q4_K_M", "Q8_0"};

using Files = std::vector<RepoFile>;

const RepoFile* find(const Files& files, const std::string& path) {
  const auto found = std::ranges::find(files, path, &RepoFile::path);
  return found == files.end() ? nullptr : &*found;
}

// Models, one entry each: whole files, and of split ones any part, since the first may be missing.
// In the order of their names.
Files one_each(const Files& files) {
  Files models;
  std::set<std::string> seen;
  for (const RepoFile& file : files) {
    if (!is_model_file(file.path)) continue;
    const auto split = parse_split(file.path);
    if (split && !seen.insert(fmt::format("{}/{}", split->parts, split->prefix)).second) continue;
    models.push_back(file);
  }
  std::ranges::sort(models, {}, &RepoFile::path);
  return models;
}

// The one whose quantisation is just that; else the first that has it in its name.
const RepoFile* with_quant(const Files& models, const std::string& quant) {
  const RepoFile* found = nullptr;
  for (const RepoFile& model : models) {
    if (!has_quant(model.path, quant)) continue;
    if (!has_quant(model.path, "UD-" + quant)) return &model;
    if (found == nullptr) found = &model;
  }
  return found;
}

const RepoFile* by_default(const Files& models) {
  for (const char* quant : kDefaults) {
    if (const RepoFile* found = with_quant(models, quant)) return found;
  }
  return models.empty() ? nullptr : &models.front();
}

// A path, or the end of one; also of what is no model by its name: the user knows better.
const RepoFile* named(const Files& files, const std::string& name) {
  if (const RepoFile* found = find(files, name)) return found;
  for (const RepoFile& file : files) {
    if (file.path.ends_with("/" + name)) return &file;
  }
  return nullptr;
}

Result<Files> with_all_parts(const Files& files, const RepoFile& chosen, const std::string& where) {
  const auto split = parse_split(chosen.path);
  if (!split) return Files{chosen};
  Files parts;
  std::string missing;
  for (int part = 1; part <= split->parts; ++part) {
    const std::string path = split->path_of(part);
    const RepoFile* found = find(files, path);
    if (found != nullptr) parts.push_back(*found);
    if (found == nullptr) missing += (missing.empty() ? "" : ", ") + path;
  }
  if (missing.empty()) return parts;
  return fail(ErrorKind::not_found,
              fmt::format("{} not every part of it: {} missing", where, missing), "",
              "Choose another quantisation, or get the missing parts");
}

}  // namespace

std::string available(const Files& files) {
  std::vector<std::string> names;
  for (const RepoFile& model : one_each(files)) {
    std::string name = quant_of(model.path);
    if (name.empty()) name = stem_of(model.path);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

Result<Files> choose_files(const Files& files, const RepoRef& ref, const std::string& file,
                           const std::string& where) {
  const Files models = one_each(files);
  if (models.empty() && file.empty()) {
    return fail(ErrorKind::not_found, where + " no GGUF model", "",
                "Look for a repository whose name ends in -GGUF");
  }
  const RepoFile* chosen = !file.empty()       ? named(files, file)
                           : ref.quant.empty() ? by_default(models)
                                               : with_quant(models, ref.quant);
  if (chosen != nullptr) return with_all_parts(files, *chosen, where);
  const std::string wanted = file.empty() ? ref.quant : file;
  const std::string there = available(files);
  return fail(ErrorKind::not_found, fmt::format("{} no {}", where, wanted),
              file.empty() ? "" : "--hf-file", there.empty() ? "" : "There is " + there);
}

}  // namespace samovar::hub
