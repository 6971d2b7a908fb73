#include "client/chat_loop.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "client/text.h"
#include "client/user_input.h"

namespace samovar::client {
namespace {

constexpr const char* kPasteOn = "\033[?2004h";
constexpr const char* kPasteOff = "\033[?2004l";

ScreenOptions screen_of(const ChatOptions& options) {
  ScreenOptions screen;
  const bool talks = !options.message && options.input_terminal;
  screen.terminal = talks && options.output_terminal;
  screen.colour = screen.terminal && options.colour;
  screen.notes_apart = !screen.terminal;
  return screen;
}

bool blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

ChatLoop::ChatLoop(const ChatOptions& options, Fs& fs, const Clock& clock)
    : options_(options),
      clock_(clock),
      random_(std::random_device{}()),
      screen_(screen_of(options)),
      keyboard_(STDIN_FILENO),
      folder_(options.folder, fs, clock),
      server_(options.url, options.key, signals_),
      editor_(screen_.terminal() ? std::make_unique<LineEditor>(keyboard_, signals_, screen_)
                                 : nullptr),
      prompt_(editor_.get(), keyboard_, signals_, screen_) {
  screen_.raw(kPasteOn);
}

ChatLoop::~ChatLoop() { screen_.raw(kPasteOff); }

int run_chat(const ChatOptions& options, Fs& fs, const Clock& clock) {
  return ChatLoop(options, fs, clock).run();
}

int ChatLoop::run() {
  if (auto status = open_session(); !status) {
    screen_.error(status.error().describe());
    return 1;
  }
  return options_.message ? one_turn(*options_.message) : converse();
}

Status ChatLoop::open_session() {
  const std::string& name = options_.session;
  if (!name.empty()) {
    if (auto status = check_name(name); !status) return status;
  }
  if (!name.empty() && folder_.exists(name)) {
    auto resumed = ChatSession::resume(folder_, name, say());
    if (!resumed) return std::unexpected(resumed.error());
    take_up(std::move(*resumed));
  } else {
    const ChatSetup setup{options_.settings.model, server_.url(), options_.settings.thinking};
    session_ = std::make_unique<ChatSession>(
        folder_, name.empty() ? folder_.fresh_name(random_) : name, setup, say());
  }
  if (options_.system && *options_.system != session_->history().system) {
    session_->set_system(*options_.system);
  }
  return {};
}

ChatSession::Say ChatLoop::say() {
  return [this](const std::string& line) { screen_.error(line); };
}

int ChatLoop::one_turn(const std::string& message) {
  if (blank(message)) {
    screen_.error("there is no message to send: give one, or pipe it in");
    return 2;
  }
  send(message);
  if (last_.interrupted || last_.leave) return kExitInterrupted;
  return last_.end == ReplyEnd::complete ? 0 : 1;
}

int ChatLoop::converse() {
  greet();
  while (!leave_ && !screen_.gone()) step();
  if (session_->begun()) {
    screen_.note(fmt::format("kept as {}: `samovar chat --session {}` goes on", session_->name(),
                             session_->name()));
  }
  return 0;
}

void ChatLoop::greet() {
  find_model(/*say_failure=*/true);
  const std::string model = settings().model;
  screen_.note(fmt::format("{} at {} · conversation {} · /help lists what there is",
                           model.empty() ? "chat" : model, server_.url(), session_->name()));
}

void ChatLoop::step() {
  if (!typed_.empty()) {
    const std::string text = std::move(typed_.front());
    typed_.pop_front();
    screen_.text("> " + text);
    handle(text);
    return;
  }
  const Line line = prompt_.read(std::exchange(initial_, {}));
  if (line.end == LineEnd::ended) {
    leave_ = true;
  } else if (line.end == LineEnd::interrupted) {
    on_interrupt(line);
  } else {
    interrupts_ = 0;
    handle(line.text);
  }
}

void ChatLoop::on_interrupt(const Line& line) {
  ++interrupts_;
  if (interrupts_ >= 2) {
    leave_ = true;
    return;
  }
  // A line that was cleared by mistake is one arrow key away.
  if (!blank(line.text)) prompt_.remember(line.text);
  screen_.note("(Ctrl-C again or Ctrl-D leaves)");
}

void ChatLoop::handle(const std::string& text) {
  if (blank(text)) return;
  prompt_.remember(text);
  const UserInput input = parse_input(text);
  if (input.is_command()) {
    command(input.command, input.argument);
  } else {
    send(input.message);
  }
}

}  // namespace samovar::client
