#include "bench/shell_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>

extern char** environ;

namespace samovar::bench {
namespace {

constexpr const char* kFlag = "--restart-cmd";
constexpr Micros kPoll = 20 * kMillisecond;

void pause_for(Micros time) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::chrono::microseconds(time), [] { return false; });
}

// 0 or an errno.
int start(const std::string& command, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP));
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  char* const words[] = {shell.data(), option.data(), text.data(), nullptr};
  const int error = posix_spawn(&pid, "/bin/sh", &files, &how, words, environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

Status run_shell(const std::string& command, Micros within, const Clock& clock, const Stop& stop) {
  pid_t pid = -1;
  if (const int error = start(command, pid); error != 0) {
    return fail(ErrorKind::internal, fmt::format("cannot run sh: {}", std::strerror(error)), kFlag);
  }
  const Micros deadline = clock.now() + within;
  int code = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &code, WNOHANG);
    if (ended == pid) break;
    const bool stopped = stop && stop();
    if (stopped || clock.now() > deadline || (ended < 0 && errno != EINTR)) {
      kill(-pid, SIGTERM);
      waitpid(pid, &code, 0);
      if (stopped) return fail(ErrorKind::cancelled, "stopped");
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the command did not end within {} s", within / kSecond), kFlag,
                  "let it start the server in the background, with its output in a file: "
                  "`SERVER ... >log 2>&1 &`");
    }
    pause_for(kPoll);
  }
  if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return {};
  return fail(ErrorKind::invalid_argument,
              WIFEXITED(code) ? fmt::format("the command ended with code {}", WEXITSTATUS(code))
                              : fmt::format("the command was ended by signal {}", WTERMSIG(code)),
              kFlag, "run it by hand and see what it says");
}

}  // namespace samovar::bench
