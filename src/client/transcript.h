// Transcript: a conversation as a file of JSON lines that only grows. Each line is one event: what
// the user said, a piece of the reply as it came, its end, a step back (/retry, /edit). Nothing is
// ever taken out, so the replies that /retry replaced are still there to read. load_transcript()
// makes the history of it again; a line torn by a crash costs itself only. docs/chat.md lists the
// lines. Owner: the chat; one thread. Errors: the disk's, with the path; what could not be written
// is kept and written before what comes next, so a full disk leaves no hole once there is room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "client/append_file.h"
#include "client/completion_chunk.h"
#include "client/history.h"

namespace samovar::client {

// What a conversation's prompts depend on besides its messages.
struct ChatSetup {
  std::string model;
  std::string url;
  std::optional<bool> thinking;
  bool operator==(const ChatSetup&) const = default;
};

enum class ReplyEnd { complete, cut, failed };

struct ReplyNote {
  ReplyEnd end = ReplyEnd::complete;
  std::string finish;  // finish_reason
  std::string turn;    // the server's id of the turn
  TurnFigures figures;
};

class Transcript {
 public:
  Transcript(std::unique_ptr<AppendFile> file, const Clock& clock)
      : file_(std::move(file)), clock_(clock) {}

  Status setup(const ChatSetup& setup);
  Status system(std::string_view text);
  Status user(std::string_view text);
  Status piece(std::string_view content, std::string_view reasoning);
  Status end(const ReplyNote& note);
  Status back(std::size_t messages);  // the history goes on after so many messages

  [[nodiscard]] const std::string& path() const { return file_->path(); }

 private:
  Status append(std::string line);

  std::unique_ptr<AppendFile> file_;
  const Clock& clock_;
  std::vector<std::string> unwritten_;
};

struct LoadedChat {
  History history;
  ChatSetup setup;
  std::string last_turn;    // the server's id of the last turn
  std::string title;        // the user's first message; empty: there is none
  std::size_t turns = 0;    // replies, those that were replaced included
  TurnFigures totals;       // over all turns whose server said it
  std::size_t damaged = 0;  // lines that could not be read and were passed over
  bool open_reply = false;  // the last reply was coming when the program ended

  // Its file says what it was with, and last that was not this model. A server that did not name
  // its model is another's.
  [[nodiscard]] bool was_with_other_than(std::string_view model) const;
};

// Of a transcript's bytes; whatever they are, what can be read is.
[[nodiscard]] LoadedChat load_transcript(std::string_view bytes);

}  // namespace samovar::client
