// ChatFolder: the folder with the transcripts, one file a conversation, "NAME.jsonl". Names are
// made of two words and four digits; the user may choose others. Owner: the chat; one thread.
// Errors: the disk's, or a name that cannot be one.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/transcript.h"
#include "fs/fs.h"

namespace samovar::client {

struct ChatEntry {
  std::string name;
  std::string title;
  std::size_t turns = 0;
  std::int64_t used = 0;  // wall seconds of the last line
};

class ChatFolder {
 public:
  ChatFolder(std::string path, Fs& fs, const Clock& clock)
      : path_(std::move(path)), fs_(fs), clock_(clock) {}

  // Newest first, at most `most`. A folder that does not exist is empty.
  [[nodiscard]] Result<std::vector<ChatEntry>> list(std::size_t most) const;

  [[nodiscard]] bool exists(const std::string& name) const;
  [[nodiscard]] Result<LoadedChat> load(const std::string& name) const;

  // For appending; made with its folder (0700) if need be.
  [[nodiscard]] Result<std::unique_ptr<Transcript>> open(const std::string& name) const;

  // A name nobody has, such as "calm-river-7f3a".
  [[nodiscard]] std::string fresh_name(std::mt19937_64& random) const;

  [[nodiscard]] std::string file_of(const std::string& name) const;

 private:
  std::string path_;
  Fs& fs_;
  const Clock& clock_;
};

[[nodiscard]] Status check_name(const std::string& name);

}  // namespace samovar::client
