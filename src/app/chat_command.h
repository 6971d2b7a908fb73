// `samovar chat`: the words after it, and the environment, into what the chat is told. Called once,
// on the main thread. Errors go to stderr as one message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/chat.h"

namespace samovar::app {

// What the chat takes from outside its command line.
struct ChatSurroundings {
  std::optional<std::string> home;
  std::optional<std::string> state_home;  // XDG_STATE_HOME
  std::optional<std::string> key;         // SAMOVAR_API_KEY
  std::optional<std::string> terminal;    // TERM
  bool no_colour = false;                 // NO_COLOR
  bool input_terminal = false;
  bool output_terminal = false;
};

struct ChatRequest {
  client::ChatOptions options;
  bool server_named = false;  // by --url, or by a model that it must have
  std::string help;           // not empty: print this and do nothing
};

// `arguments` are the words after "chat".
[[nodiscard]] Result<ChatRequest> parse_chat(const std::vector<std::string>& arguments,
                                             const ChatSurroundings& around);

[[nodiscard]] int chat(const std::vector<std::string>& arguments);

}  // namespace samovar::app
