// ChatTerminal: `samovar chat` under a pseudo terminal, with somebody who types and reads.
// run_piped(): the same program without a terminal. Both keep their conversations in a folder of
// the test's. Used by one thread; every wait is bounded.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {

// A folder that lives as long as the object; what the chat keeps there.
class ChatState {
 public:
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  // The bytes of one conversation's transcript.
  [[nodiscard]] std::string transcript(const std::string& name) const {
    std::ifstream in(folder_.at("samovar/chats/" + name + ".jsonl"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  [[nodiscard]] std::vector<std::string> environment() const {
    return {"XDG_STATE_HOME=" + path(), "HOME=" + path(), "TERM=xterm", "LC_ALL=C.UTF-8"};
  }

 private:
  TemporaryFolder folder_;
};

class ChatTerminal {
 public:
  using Words = std::vector<std::string>;

  ChatTerminal(const ChatState& state, const Words& options) {
    Words words = {std::string(SAMOVAR_BINARY) + "/samovar", "chat"};
    words.insert(words.end(), options.begin(), options.end());
    Words variables = state.environment();
    std::vector<char*> arguments = pointers(words);
    std::vector<char*> environment = pointers(variables);
    const winsize size = {40, 100, 0, 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      ::execve(arguments[0], arguments.data(), environment.data());
      ::_exit(127);
    }
    ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    reader_ = std::thread([this] { read_all(); });
  }
  ~ChatTerminal() {
    kill_hard();
    reader_.join();
    ::close(terminal_);
    if (::testing::Test::HasFailure()) fprintf(stderr, "--- chat\n%s\n---\n", output().c_str());
  }
  ChatTerminal(const ChatTerminal&) = delete;
  ChatTerminal& operator=(const ChatTerminal&) = delete;

  void type(const std::string& keys) const {
    ASSERT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void say(const std::string& line) const { type(line + "\r"); }

  // Waits until `text` is shown after what was seen last.
  [[nodiscard]] bool sees(const std::string& text, int seconds = 60) {
    std::size_t at = std::string::npos;
    const bool found = eventually(
        [&] {
          at = output().find(text, seen_);
          return at != std::string::npos;
        },
        seconds);
    if (found) seen_ = at + text.size();
    return found;
  }
  // Waits for the prompt: what is typed then goes to the line editor.
  [[nodiscard]] bool prompts() { return sees("> "); }

  void kill_hard() {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
    pid_ = -1;
  }
  // The exit code once it has ended; -1: it does not, or was killed.
  int exit_code() {
    return eventually([this] { return ended(); }) && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

  std::string output() {
    const std::lock_guard lock(mutex_);
    return output_;
  }

 private:
  static std::vector<char*> pointers(Words& words) {
    std::vector<char*> out;
    for (std::string& word : words) out.push_back(word.data());
    out.push_back(nullptr);
    return out;
  }

  bool ended() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }

  void read_all() {
    char buffer[4096];
    for (;;) {
      const ssize_t count = ::read(terminal_, buffer, sizeof buffer);
      if (count <= 0) return;
      const std::lock_guard lock(mutex_);
      output_.append(buffer, static_cast<std::size_t>(count));
    }
  }

  pid_t pid_ = -1;
  int terminal_ = -1;
  int status_ = 0;
  std::size_t seen_ = 0;
  std::mutex mutex_;
  std::string output_;  // guarded by mutex_
  std::thread reader_;
};

struct Piped {
  int code = -1;
  std::string output;
  std::string errors;
};

// Runs it to its end with `input` on its standard input; nullptr: nothing is there to read.
inline Piped run_piped(const ChatState& state, const ChatTerminal::Words& options,
                       const char* input) {
  const auto quoted = [](const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  };
  const std::string in = state.path() + "/in";
  const std::string errors = state.path() + "/errors";
  if (input != nullptr) std::ofstream(in, std::ios::binary) << input;
  std::string command = "env -i";
  for (const std::string& variable : state.environment()) command += " " + quoted(variable);
  command += " " + quoted(std::string(SAMOVAR_BINARY) + "/samovar") + " chat";
  for (const std::string& word : options) command += " " + quoted(word);
  command += " <" + quoted(input != nullptr ? in : "/dev/null") + " 2>" + quoted(errors);
  Piped result;
  FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (std::size_t count = 0; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    result.output.append(buffer, count);
  }
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ifstream said(errors, std::ios::binary);
  result.errors.assign(std::istreambuf_iterator<char>(said), {});
  return result;
}

}  // namespace samovar::testing
