// `samovar chat`: a conversation in a terminal, or one turn of it without one. Nothing of it is
// lost: not the message that could not be sent, not the reply that was stopped or broke off. Called
// once, on the main thread; returns the process's exit code.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "client/request_body.h"
#include "fs/fs.h"

namespace samovar::client {

struct ChatOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string key;
  std::string folder;   // of the transcripts
  std::string session;  // empty: another conversation
  std::optional<std::string> system;
  std::optional<std::string> message;  // one turn, then leave
  RequestSettings settings;            // model, thinking, sampling; the session is not used
  bool colour = true;
  bool input_terminal = false;
  bool output_terminal = false;  // and one that can move its cursor
};

inline constexpr int kExitInterrupted = 130;

[[nodiscard]] int run_chat(const ChatOptions& options, Fs& fs, const Clock& clock);

}  // namespace samovar::client
