#include "app/chat_command.h"

#include <fmt/core.h>
#include <langinfo.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/command_words.h"
#include "app/options.h"
#include "app/pocket_model.h"
#include "app/pocket_server.h"
#include "app/serve.h"
#include "client/chat_folder.h"
#include "fs/posix_fs.h"
#include "http/sockets.h"

namespace samovar::app {

namespace {

constexpr std::size_t kPipedMax = std::size_t{16} << 20;  // bytes; no model reads more

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

ChatSurroundings surroundings() {
  ChatSurroundings around;
  around.home = variable("HOME");
  around.state_home = variable("XDG_STATE_HOME");
  around.key = variable("SAMOVAR_API_KEY");
  around.terminal = variable("TERM");
  around.no_colour = !variable("NO_COLOR").value_or("").empty();
  around.input_terminal = isatty(STDIN_FILENO) != 0;
  around.output_terminal = isatty(STDOUT_FILENO) != 0;
  return around;
}

// A pipe or a file was given as input, by intent: not what a service or a script left there.
bool input_given() {
  struct stat info = {};
  return fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode));
}

Result<std::string> piped_text() {
  std::string text;
  std::array<char, 65536> buffer = {};
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail(ErrorKind::invalid_argument,
                  std::string("cannot read the input: ") + std::strerror(errno));
    }
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kPipedMax) {
      return fail(ErrorKind::too_large, "the input has more than 16 MiB", "", "send less of it");
    }
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// `cat notes | samovar chat "Sum this up"`: first the words, then the text.
Status add_input(client::ChatOptions& options) {
  if (options.input_terminal || (options.message && !input_given())) return {};
  auto text = piped_text();
  if (!text) return std::unexpected(text.error());
  if (!options.message) options.message.emplace();
  if (!options.message->empty() && !text->empty()) *options.message += "\n\n";
  *options.message += *text;
  return {};
}

// Widths of characters, and libedit, need a locale whose encoding is UTF-8.
void use_utf8() {
  if (std::setlocale(LC_CTYPE, "") != nullptr && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0) {
    return;
  }
  std::setlocale(LC_CTYPE, "C.UTF-8");
}

// A conversation that was with a model goes on with that one.
bool began_with_another(const client::ChatOptions& options, Fs& fs) {
  if (options.session.empty()) return false;
  const client::ChatFolder chats(options.folder, fs, system_clock());
  const auto chat = chats.load(options.session);
  return chat && chat->was_with_other_than("Pocket");
}

// For people who look around: who names a server, a key or a conversation with another model, and a
// script that reads the reply, want that server or its error.
bool wants_pocket(const ChatRequest& request, Fs& fs) {
  return !request.server_named && request.options.key.empty() && isatty(STDOUT_FILENO) != 0 &&
         !began_with_another(request.options, fs) && !is_served(ServeOptions().port);
}

Result<std::unique_ptr<PocketServer>> serve_pocket(client::ChatOptions& options) {
  auto server = PocketServer::start();
  if (!server) {
    Error error = server.error();
    error.message = "nothing is served at " + options.url + "; " + error.message;
    return std::unexpected(std::move(error));
  }
  fmt::print(stderr, "Nothing is served at {}, so you talk with Pocket. {} A real model:\n  {}\n\n",
             options.url, kPocketNotice, kRealModelLine);
  if (const std::string& why = (*server)->not_kept(); !why.empty()) {
    fmt::print(stderr, "What it computes is not kept for the next time: {}\n\n", why);
  }
  options.url = (*server)->url();
  return server;
}

}  // namespace

int chat(const std::vector<std::string>& arguments) {
  auto request = parse_chat(arguments, surroundings());
  if (const auto code = answer_without_running(request)) return *code;
  if (auto status = add_input(request->options); !status) {
    return report_error(status.error(), kExitFailure);
  }
  use_utf8();
  PosixFs fs;
  std::unique_ptr<PocketServer> pocket;
  if (wants_pocket(*request, fs)) {
    auto started = serve_pocket(request->options);
    if (!started) return report_error(started.error(), kExitFailure);
    pocket = std::move(*started);
  }
  return client::run_chat(request->options, fs, system_clock());
}

}  // namespace samovar::app
