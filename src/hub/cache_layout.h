// CacheLayout: where everything of the shared model cache lies. The layout is the ecosystem's, so
// that what one program downloaded another one finds:
//
//   ROOT/models--OWNER--NAME/refs/main             the commit that "main" was, last time
//                            blobs/BLOB            a file's content under its hash
//                            snapshots/COMMIT/PATH symbolic links to ../../blobs/BLOB
//   ROOT/.locks/models--OWNER--NAME/BLOB.lock      held by who downloads it
//
// Beside a blob that is not complete lie BLOB.incomplete, its first bytes, and our own
// BLOB.incomplete.about (partial_note.h). Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace samovar::hub {

class CacheLayout {
 public:
  // `root`: the folder that holds "models--..."; `repo`: "owner/name".
  CacheLayout(std::string root, std::string repo);

  [[nodiscard]] const std::string& repo() const { return repo_; }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string folder() const;
  [[nodiscard]] std::string refs() const { return folder() + "/refs"; }
  [[nodiscard]] std::string main_ref() const { return refs() + "/main"; }
  [[nodiscard]] std::string blobs() const { return folder() + "/blobs"; }
  [[nodiscard]] std::string blob(std::string_view name) const;
  [[nodiscard]] std::string incomplete(std::string_view blob_name) const;
  [[nodiscard]] std::string about(std::string_view blob_name) const;
  [[nodiscard]] std::string snapshots() const { return folder() + "/snapshots"; }
  [[nodiscard]] std::string snapshot(std::string_view commit) const;
  [[nodiscard]] std::string file(std::string_view commit, std::string_view path) const;
  [[nodiscard]] std::string locks() const;
  [[nodiscard]] std::string lock(std::string_view blob_name) const;
  // Where a new reference is written before it is renamed to main_ref(); `unique` among processes.
  [[nodiscard]] std::string new_ref(std::string_view unique) const;

 private:
  std::string root_;
  std::string repo_;
};

// What a snapshot's link for `path` holds: "../../blobs/BLOB", one "../" more for each folder.
[[nodiscard]] std::string link_target(std::string_view path, std::string_view blob_name);

// "BLOB" of such a target; nullopt: it points elsewhere.
[[nodiscard]] std::optional<std::string> blob_of_target(std::string_view target);

// "owner/name" of "models--owner--name"; nullopt: no model's folder.
[[nodiscard]] std::optional<std::string> repo_of_folder(std::string_view folder);

}  // namespace samovar::hub
