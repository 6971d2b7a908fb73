// ServerProcess: `samovar serve` as a child process, on a free port, for as long as the object
// lives. Without --store-dir among its options it keeps no sessions on disk: a test never touches
// the store of who runs it. Its output is kept for failure messages. Used by one thread; every wait
// is bounded.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace samovar::testing {

// Waits until `condition`, at most `seconds`, and says whether it came true.
template <class Condition>
bool eventually(Condition condition, int seconds = 60) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class ServerProcess {
 public:
  using Words = std::vector<std::string>;

  enum class Expect { serving, refusal, listening };  // the last: not serving yet

  // Other words for the model than a file's: {"-hf", "owner/name"}.
  struct Source {
    Words words;
  };

  // Starts the server with a model of build/models/ and waits until it serves, or has ended if that
  // is expected. One compute thread: the test and its server share the machine.
  explicit ServerProcess(const Words& options = {}, const std::string& model = "tiny-qwen35moe",
                         Expect expect = Expect::serving) {
    const std::string file = std::string(SAMOVAR_MODELS) + "/" + model + ".gguf";
    if (!std::ifstream(file).good()) {
      ADD_FAILURE() << file << " is missing: run `make models`";
      return;
    }
    serve({"-m", file}, options, expect);
  }
  explicit ServerProcess(const Source& model, const Words& options = {},
                         Expect expect = Expect::serving) {
    serve(model.words, options, expect);
  }

  ~ServerProcess() {
    stop();
    if (reader_.joinable()) reader_.join();
    if (::testing::Test::HasFailure()) fprintf(stderr, "--- server\n%s---\n", output().c_str());
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  void signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
  }

  // The exit code, or -1 if it does not end in time.
  int exit_code(int seconds = 60) {
    eventually([this] { return ended(); }, seconds);
    return ended() && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

  // As power loss would end it, but for what the kernel still writes.
  void kill_hard() { stop(); }

  // Asks it to end; its exit code.
  int end() {
    signal(SIGTERM);
    return exit_code();
  }

  std::string output() {
    const std::lock_guard lock(mutex_);
    return output_;
  }

  bool has(const std::string& text) { return output().find(text) != std::string::npos; }

 private:
  void serve(const Words& model, const Words& options, Expect expect) {
    Words words = {std::string(SAMOVAR_BINARY) + "/samovar", "serve"};
    words.insert(words.end(), model.begin(), model.end());
    for (const char* word : {"--port", "0", "-t", "1", "-tb", "1", "--anchor-memory", "256M"}) {
      words.emplace_back(word);
    }
    words.insert(words.end(), options.begin(), options.end());
    if (std::ranges::find(options, "--store-dir") == options.end()) words.push_back("--no-store");
    start(words);
    const char* awaited = expect == Expect::listening ? "listening on " : "\nserving ";
    if (!eventually([&] { return has(awaited) || ended(); })) stop();
    const std::string text = output();
    const std::size_t at = text.find("127.0.0.1:");
    if (at != std::string::npos) port_ = std::atoi(text.c_str() + at + 10);
    EXPECT_EQ(has(awaited), expect != Expect::refusal) << text;
  }

  void start(const Words& words) {
    int ends[2] = {};
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
      pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    reader_ = std::thread([this, source = ends[0]] { read_output(source); });
  }

  void read_output(int source) {
    char buffer[4096];
    for (;;) {
      const ssize_t count = read(source, buffer, sizeof buffer);
      if (count <= 0) break;
      const std::lock_guard lock(mutex_);
      output_.append(buffer, static_cast<std::size_t>(count));
    }
    close(source);
  }

  bool ended() {
    if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }

  void stop() {
    if (ended()) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
    pid_ = -1;
  }

  pid_t pid_ = -1;
  int status_ = 0;
  int port_ = 0;
  std::mutex mutex_;
  std::string output_;  // guarded by mutex_
  std::thread reader_;
};

}  // namespace samovar::testing
