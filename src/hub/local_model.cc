#include "hub/local_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hub/gguf_name.h"

namespace samovar::hub {
namespace {

constexpr std::size_t kNamesMax = 8;  // that an error lists

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesMax); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kNamesMax) text += fmt::format(" and {} more", names.size() - kNamesMax);
  return text;
}

std::unexpected<Error> is_a_folder(Fs& fs, const std::string& path) {
  std::vector<std::string> names;
  if (const auto entries = fs.list(path, false)) {
    for (const DirEntry& entry : *entries) {
      const auto split = parse_split(entry.name);
      if (is_model_file(entry.name) && (!split || split->part == 1)) names.push_back(entry.name);
    }
  }
  std::ranges::sort(names);
  return fail(ErrorKind::invalid_argument, path + " is a folder", "--model",
              names.empty() ? "Name a GGUF file" : "Name one of its files: " + list(names));
}

}  // namespace

Result<std::string> local_model(Fs& fs, const std::string& path) {
  const auto found = fs.stat(path);
  const auto split = parse_split(path);
  if (found && found->directory) return is_a_folder(fs, path);
  if (!split) {
    if (found) return path;
    return fail(ErrorKind::invalid_argument, "cannot read " + path, "--model",
                "Check the path and its permissions; -hf OWNER/NAME downloads a model");
  }
  std::vector<std::string> missing;
  for (int part = 1; part <= split->parts; ++part) {
    const std::string file = split->path_of(part);
    if (!fs.stat(file)) missing.push_back(file);
  }
  if (missing.empty()) return split->path_of(1);
  return fail(ErrorKind::invalid_argument,
              fmt::format("the model has {} parts, {} of them missing: {}", split->parts,
                          missing.size(), list(missing)),
              "--model", "Put all parts into one folder, with their names as they were");
}

}  // namespace samovar::hub
