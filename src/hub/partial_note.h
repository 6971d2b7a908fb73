// PartialNote: what is known of a blob that is not complete yet, kept beside it
// (BLOB.incomplete.about), so that a list can name it and a resumed transfer can ask whether the
// server still has the same file. Three lines: path in the repository, bytes of the whole, ETag of
// the server that sent it. A note that cannot be read is no note: nothing depends on it but the
// conditional request. Values; pure but for read_text() and
// write_text(), which also serve the references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fs/cache_fs.h"

namespace samovar::hub {

struct PartialNote {
  std::string path;
  std::uint64_t bytes = 0;
  std::string etag;  // as sent, with its quotes; empty: none, or a weak one

  bool operator==(const PartialNote&) const = default;
};

[[nodiscard]] std::string note_text(const PartialNote& note);
[[nodiscard]] std::optional<PartialNote> parse_note(std::string_view text);

// A small file's whole text; nullopt: it cannot be read or is longer than 64 KiB.
[[nodiscard]] std::optional<std::string> read_text(Fs& fs, const std::string& path);

// A file's new text, whole or not at all, by way of `temporary`, which nobody else may use at the
// same time; rights by the umask.
[[nodiscard]] FsStatus write_text(CacheFs& fs, const std::string& path,
                                  const std::string& temporary, std::string_view text);

}  // namespace samovar::hub
