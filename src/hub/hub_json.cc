#include "hub/hub_json.h"

#include <nlohmann/json.hpp>

#include <optional>

#include "hub/repo_ref.h"

namespace samovar::hub {
namespace {

using nlohmann::json;

std::unexpected<Error> unreadable(const std::string& what) {
  return fail(ErrorKind::internal, "the hub's answer cannot be read: " + what, "",
              "Check HF_ENDPOINT; a login page or a proxy may have answered");
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<RepoFile> file_in(const json& entry) {
  if (!entry.is_object() || text_at(entry, "type") != "file") return std::nullopt;
  RepoFile file;
  file.path = text_at(entry, "path");
  file.blob = text_at(entry, "oid");
  const json* sized = &entry;
  if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object()) {
    file.blob = text_at(*lfs, "oid");
    file.sha256 = true;
    sized = &*lfs;
  }
  const auto size = sized->find("size");
  if (size == sized->end() || !size->is_number_unsigned()) return std::nullopt;
  file.bytes = size->get<std::uint64_t>();
  const bool named = file.sha256 ? is_hex(file.blob, 64) : is_hex(file.blob, 40);
  if (!named || !is_safe_path(file.path)) return std::nullopt;
  return file;
}

}  // namespace

Result<std::string> commit_in(std::string_view body) {
  const json answer = json::parse(body, nullptr, false);
  if (!answer.is_object()) return unreadable("it is no JSON object");
  std::string commit = text_at(answer, "sha");
  if (!is_hex(commit, 40)) return unreadable("\"sha\" is no commit");
  return commit;
}

Result<std::vector<RepoFile>> files_in(std::string_view body) {
  const json answer = json::parse(body, nullptr, false);
  if (!answer.is_array()) return unreadable("it is no list of files");
  std::vector<RepoFile> files;
  for (const json& entry : answer) {
    if (auto file = file_in(entry)) files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace samovar::hub
