// ChatSession: the conversation in hand: its history, and its transcript, which is always one step
// ahead: a message is on disk before it is sent, a reply while it comes. A disk that fails stops
// nothing; it is said once, and once more when it works again. Owner: the chat; one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/chat_folder.h"
#include "client/history.h"
#include "client/transcript.h"

namespace samovar::client {

class ChatSession {
 public:
  using Say = std::function<void(const std::string& line)>;  // to the user

  // Another conversation, empty. Its file is made with its first message.
  ChatSession(const ChatFolder& folder, std::string name, ChatSetup setup, Say say);

  // One from the folder. Errors: none of this name, open elsewhere, the disk.
  static Result<std::unique_ptr<ChatSession>> resume(const ChatFolder& folder,
                                                     const std::string& name, Say say);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const ChatSetup& setup() const { return setup_; }
  [[nodiscard]] const LoadedChat& loaded() const { return loaded_; }  // as resume() found it
  [[nodiscard]] const std::string& last_turn() const { return last_turn_; }
  [[nodiscard]] std::size_t turns() const { return turns_; }
  [[nodiscard]] const TurnFigures& totals() const { return totals_; }
  [[nodiscard]] bool begun() const { return transcript_ != nullptr; }

  void set_setup(const ChatSetup& setup);
  void set_system(std::string_view text);

  // The user's next message; takes the place of one that no reply came to.
  void user(std::string_view text);
  void piece(std::string_view content, std::string_view reasoning);
  void end(const ReplyNote& note, std::string content, std::string reasoning);

  // The history goes on after its first `messages`.
  void back(std::size_t messages);

 private:
  void saved(const Status& status);
  void begin_file();

  const ChatFolder& folder_;
  std::string name_;
  ChatSetup setup_;
  Say say_;
  History history_;
  LoadedChat loaded_;
  std::unique_ptr<Transcript> transcript_;  // null: nothing to save yet, or it cannot be opened
  bool failing_ = false;
  std::string last_turn_;
  std::size_t turns_ = 0;
  TurnFigures totals_;
};

}  // namespace samovar::client
