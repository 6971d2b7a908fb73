// ChatLoop: the parts of a chat put together: reads what the user wants, does it, shows it. Private
// to run_chat(). One thread.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <string>

#include "client/answering.h"
#include "client/chat.h"
#include "client/chat_folder.h"
#include "client/chat_session.h"
#include "client/prompt.h"
#include "client/server_link.h"

namespace samovar::client {

class ChatLoop {
 public:
  ChatLoop(const ChatOptions& options, Fs& fs, const Clock& clock);
  ~ChatLoop();
  ChatLoop(const ChatLoop&) = delete;
  ChatLoop& operator=(const ChatLoop&) = delete;

  int run();

 private:
  // chat_loop.cc: the life of the chat
  Status open_session();
  int one_turn(const std::string& message);
  int converse();
  void greet();
  void step();
  void on_interrupt(const Line& line);
  void handle(const std::string& text);

  // chat_turn.cc: a turn
  void find_model(bool say_failure);
  void send(const std::string& message);
  void turn();
  Answer ask();
  void report(const Answer& answer);
  void report_end(const Answer& answer);
  [[nodiscard]] RequestSettings settings() const;

  // chat_commands.cc: what begins with a slash
  void command(const std::string& name, const std::string& argument);
  void list_sessions();
  void resume(const std::string& which);
  void begin_new();
  void retry();
  void edit(const std::string& which);
  void why();
  void system(const std::string& text);
  void show_history();
  void save(const std::string& file);
  void show_stats();
  void take_up(std::unique_ptr<ChatSession> session);
  [[nodiscard]] ChatSession::Say say();

  ChatOptions options_;
  const Clock& clock_;
  std::mt19937_64 random_;
  SignalPipe signals_;
  Screen screen_;
  Keyboard keyboard_;
  ChatFolder folder_;
  ServerLink server_;
  std::unique_ptr<LineEditor> editor_;  // null: no terminal
  Prompt prompt_;
  std::unique_ptr<ChatSession> session_;

  std::string model_;  // of the server, if the user named none
  bool model_known_ = false;
  std::deque<std::string> typed_;  // entered while a reply came
  std::string initial_;            // begun while a reply came
  bool leave_ = false;
  int interrupts_ = 0;  // in a row, at the prompt
  Answer last_;
  bool last_known_ = false;  // last_ is of this conversation
};

}  // namespace samovar::client
