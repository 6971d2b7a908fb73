// AppendFile: a file that only grows, each record synced before append() returns, so that a crash
// loses at most the record being written. One process at a time: opening takes a lock, which the
// system releases when the process ends. Owner: one; one thread. Errors name the path.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace samovar::client {

class AppendFile {
 public:
  // Made if need be, mode 0600. Error kind `overloaded`: another process has it open.
  static Result<std::unique_ptr<AppendFile>> open(const std::string& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // One line; the newline is added. If an earlier one was torn, it is closed off first. Error kind
  // `unavailable`: it is written, but a crash of the machine may still lose it.
  Status append(std::string_view line);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  AppendFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  [[nodiscard]] bool ends_torn() const;

  std::string path_;
  int descriptor_;
  bool torn_ = false;  // the last line has no newline
};

// The whole file. Errors: not_found, or the system's words.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

// A new file, mode 0600. Error: it exists, or the system's words.
[[nodiscard]] Status write_new(const std::string& path, std::string_view text);

}  // namespace samovar::client
