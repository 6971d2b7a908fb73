// The commands of the chat.
#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "client/append_file.h"
#include "client/chat_loop.h"
#include "client/explain_text.h"
#include "client/text.h"
#include "client/user_input.h"

namespace samovar::client {
namespace {

constexpr std::size_t kListed = 50;
constexpr int kTitleShown = 50;  // columns

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::string written_out(const History& history) {
  std::string text;
  if (!history.system.empty()) text += "[system]\n" + history.system + "\n\n";
  for (const Message& message : history.messages) {
    text += message.user ? "[you]\n" : message.cut ? "[reply, cut]\n" : "[reply]\n";
    if (!message.reasoning.empty()) text += "(reasoning)\n" + message.reasoning + "\n(answer)\n";
    text += message.content + "\n\n";
  }
  return text;
}

std::string count_text(const std::optional<std::int64_t>& count) {
  return count ? grouped(*count) : "not said by the server";
}

}  // namespace

void ChatLoop::command(const std::string& name, const std::string& argument) {
  if (name == "help" || name == "?") {
    screen_.text(commands_help());
  } else if (name == "sessions") {
    list_sessions();
  } else if (name == "resume") {
    resume(argument);
  } else if (name == "new") {
    begin_new();
  } else if (name == "retry") {
    retry();
  } else if (name == "edit") {
    edit(argument);
  } else if (name == "why") {
    why();
  } else if (name == "system") {
    system(argument);
  } else if (name == "history") {
    show_history();
  } else if (name == "save") {
    save(argument);
  } else if (name == "stats" || name == "tokens") {
    show_stats();
  } else if (name == "quit" || name == "exit") {
    leave_ = true;
  } else {
    screen_.error(unknown_command(name));
  }
}

void ChatLoop::list_sessions() {
  const auto chats = folder_.list(kListed);
  if (!chats) {
    screen_.error(chats.error().describe());
    return;
  }
  if (chats->empty())
    screen_.text(
        "there are none yet: a conversation is kept from its first "
        "message on");
  const std::int64_t now = clock_.wall_seconds();
  std::string text;
  for (std::size_t i = 0; i < chats->size(); ++i) {
    const ChatEntry& chat = (*chats)[i];
    text += fmt::format("{:>3}{} {:<22} {:>4} {:<6} {:<12} {}\n", i + 1,
                        chat.name == session_->name() ? "*" : " ", chat.name, chat.turns,
                        chat.turns == 1 ? "turn" : "turns", age_text(now - chat.used),
                        one_line(chat.title, kTitleShown));
  }
  if (!text.empty()) screen_.text(text);
}

void ChatLoop::resume(const std::string& which) {
  std::string name = which;
  const auto number = number_of(which);
  if (which.empty() || (number && !folder_.exists(which))) {
    const auto chats = folder_.list(kListed);
    if (!chats) {
      screen_.error(chats.error().describe());
      return;
    }
    std::size_t at = number.value_or(1) - 1;
    // Alone it means the newest one that is not this one.
    if (which.empty() && at < chats->size() && (*chats)[at].name == session_->name()) ++at;
    if (at >= chats->size()) {
      screen_.error(which.empty() ? "there is no other conversation yet"
                                  : fmt::format("there is no conversation {}: /sessions lists "
                                                "those there are",
                                                which));
      return;
    }
    name = (*chats)[at].name;
  }
  if (name == session_->name()) {
    screen_.note("this is it");
    return;
  }
  auto resumed = ChatSession::resume(folder_, name, say());
  if (!resumed) {
    screen_.error(resumed.error().describe());
    return;
  }
  model_known_ = false;  // the other conversation may be with another one
  take_up(std::move(*resumed));
}

void ChatLoop::take_up(std::unique_ptr<ChatSession> session) {
  session_ = std::move(session);
  last_ = {};
  last_known_ = false;
  prompt_.forget_history();
  const History& history = session_->history();
  for (const Message& message : history.messages) {
    if (message.user) prompt_.remember(message.content);
  }
  const LoadedChat& loaded = session_->loaded();
  screen_.note(fmt::format("{}: {} {}, {}", session_->name(), history.messages.size(),
                           history.messages.size() == 1 ? "message" : "messages",
                           one_line(loaded.title, kTitleShown)));
  if (loaded.damaged > 0) {
    screen_.note(
        fmt::format("{} of its lines could not be read (torn by a crash?) and {} passed "
                    "over",
                    loaded.damaged, loaded.damaged == 1 ? "was" : "were"));
  }
  if (history.pending()) {
    screen_.note("its last message has no reply: /retry sends it again, /edit changes it");
  } else if (loaded.open_reply) {
    screen_.note(
        "its last reply was cut when the program ended; what came is kept. /retry asks "
        "again");
  }
}

void ChatLoop::begin_new() {
  const std::string system = options_.system.value_or("");
  session_ = std::make_unique<ChatSession>(
      folder_, folder_.fresh_name(random_),
      ChatSetup{settings().model, server_.url(), options_.settings.thinking}, say());
  if (!system.empty()) session_->set_system(system);
  last_ = {};
  last_known_ = false;
  prompt_.forget_history();
  screen_.note("conversation " + session_->name());
}

void ChatLoop::retry() {
  const History& history = session_->history();
  const auto last = history.user_message(1);
  if (!last) {
    screen_.error("there is nothing to send again yet");
    return;
  }
  if (!history.pending()) session_->back(*last + 1);
  turn();
}

void ChatLoop::edit(const std::string& which) {
  const auto n = which.empty() ? std::optional<std::size_t>(1) : number_of(which);
  const auto at = n ? session_->history().user_message(*n) : std::nullopt;
  if (!at) {
    const std::size_t count = session_->history().user_messages();
    screen_.error(count == 0
                      ? "there is no message to change yet"
                      : fmt::format("there is no message {}: 1 is your last one, {} your first",
                                    which, count));
    return;
  }
  screen_.note("change it and press Enter; Ctrl-C leaves everything as it is");
  const Line line = prompt_.read(session_->history().messages[*at].content);
  if (line.end != LineEnd::entered || line.text.find_first_not_of(" \n") == std::string::npos) {
    screen_.note("nothing was changed");
    return;
  }
  prompt_.remember(line.text);
  session_->back(*at);
  send(line.text);
}

void ChatLoop::why() {
  const std::string& turn = session_->last_turn();
  if (turn.empty()) {
    screen_.text(session_->turns() == 0 ? "there was no turn yet"
                                        : "the server gave the last turn no id to ask for");
    return;
  }
  const auto body = server_.explanation(turn);
  const std::string text = body ? explanation_text(*body) : "";
  if (!text.empty()) {
    screen_.text(text);
    return;
  }
  if (!body && body.error().kind != ErrorKind::not_found) {
    screen_.error(body.error().describe());
    return;
  }
  std::string known = "this server explains no misses (Samovar does), or keeps that turn no more.";
  if (last_known_ && last_.figures.prompt_tokens && last_.figures.reused_tokens) {
    known +=
        fmt::format(" It says that {} of the last prompt's {} tokens were cached.",
                    grouped(*last_.figures.reused_tokens), grouped(*last_.figures.prompt_tokens));
  } else {
    known += " It says nothing about cached tokens.";
  }
  screen_.text(known);
}

void ChatLoop::system(const std::string& text) {
  const std::string& now = session_->history().system;
  if (text.empty()) {
    screen_.text(now.empty() ? "there is no system text: /system TEXT sets one" : now);
    return;
  }
  session_->set_system(text == "-" ? "" : text);
  screen_.note(session_->history().messages.empty()
                   ? "set"
                   : "set. It stands before everything else: the next turn computes the whole "
                     "conversation again");
}

void ChatLoop::show_history() {
  const std::string text = written_out(session_->history());
  screen_.text(text.empty() ? "nothing was said yet" : text);
}

void ChatLoop::save(const std::string& file) {
  if (file.empty()) {
    screen_.error("save where? /save FILE");
    return;
  }
  const History& history = session_->history();
  const std::string text = file.ends_with(".json")
                               ? messages_json(history, /*with_reasoning=*/true) + "\n"
                               : written_out(history);
  if (const Status status = write_new(file, text); !status) {
    screen_.error(status.error().describe());
    return;
  }
  screen_.note(fmt::format("saved: {} messages in {}", history.messages.size(), file));
}

void ChatLoop::show_stats() {
  const TurnFigures& totals = session_->totals();
  screen_.text(
      fmt::format("{}: {} {}, {} messages in the conversation\n"
                  "  prompt tokens    {}\n  reused           {}\n"
                  "  computed         {}\n  reply tokens     {}\n  transcript       {}\n",
                  session_->name(), session_->turns(), session_->turns() == 1 ? "turn" : "turns",
                  session_->history().messages.size(), count_text(totals.prompt_tokens),
                  count_text(totals.reused_tokens), count_text(totals.computed_tokens),
                  count_text(totals.reply_tokens), folder_.file_of(session_->name())));
}

}  // namespace samovar::client
