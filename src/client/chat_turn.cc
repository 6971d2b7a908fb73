// One turn of the chat: the request, the reply, what is kept and what is said about it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/chat_loop.h"
#include "client/text.h"

namespace samovar::client {

// A server with several models wants to be told which: the conversation's, if it has it.
void ChatLoop::find_model(bool say_failure) {
  if (model_known_ || !options_.settings.model.empty()) return;
  const auto ids = server_.models();
  if (!ids) {
    if (say_failure && ids.error().kind != ErrorKind::cancelled) {
      // There is no message yet that could be sent again.
      const bool busy = ids.error().kind == ErrorKind::overloaded;
      screen_.error(busy ? ids.error().message : ids.error().describe());
    }
    return;
  }
  model_known_ = true;
  const std::string& before = session_->setup().model;
  const bool there = std::ranges::find(*ids, before) != ids->end();
  model_ = there || ids->empty() ? before : ids->front();
  if (!before.empty() && !there && !ids->empty()) {
    screen_.note(
        fmt::format("this conversation was with {}, which the server does not have; it "
                    "goes on with {}, whose prompts may differ",
                    before, model_));
  }
}

RequestSettings ChatLoop::settings() const {
  RequestSettings settings = options_.settings;
  if (settings.model.empty()) settings.model = model_;
  if (!settings.thinking) settings.thinking = session_->setup().thinking;
  settings.session = session_->name();
  return settings;
}

void ChatLoop::send(const std::string& message) {
  session_->user(message);
  turn();
}

// The history ends with the user's message.
void ChatLoop::turn() {
  find_model(/*say_failure=*/false);
  const RequestSettings now = settings();
  session_->set_setup({now.model, server_.url(), now.thinking});
  last_ = ask();
  last_known_ = true;
  session_->end({last_.end, last_.finish, last_.turn, last_.figures}, last_.content,
                last_.reasoning);
  report(last_);
  for (std::string& text : last_.typed) typed_.push_back(std::move(text));
  last_.typed.clear();
  initial_ = std::exchange(last_.begun, {});
  leave_ = leave_ || last_.leave;
}

Answer ChatLoop::ask() {
  for (;;) {
    Answering answering(server_.transfer(), screen_, editor_ ? &keyboard_ : nullptr, signals_,
                        clock_);
    Answer answer = answering.run(server_.completion(session_->history(), settings()),
                                  [this](std::string_view content, std::string_view reasoning) {
                                    session_->piece(content, reasoning);
                                  });
    if (answer.end != ReplyEnd::failed || !answer.empty() || !answer.error) return answer;
    const auto field =
        refused_field(answer.status, answer.error->message, settings(), server_.left_out);
    if (!field) return answer;
    server_.left_out.insert(*field);
    screen_.note(fmt::format("the server does not take {}: sent again without it", *field));
    for (std::string& text : answer.typed) typed_.push_back(std::move(text));
  }
}

void ChatLoop::report(const Answer& answer) {
  if (answer.unreadable > 0) {
    screen_.error(fmt::format("{} of the server's events could not be read and {} left out",
                              answer.unreadable, answer.unreadable == 1 ? "is" : "are"));
  }
  if (!answer.tool.empty()) {
    screen_.error(fmt::format("the model called a tool, {}, which this chat does not have",
                              one_line(answer.tool, 60)));
  }
  if (answer.end == ReplyEnd::complete) {
    if (answer.empty()) screen_.note("(an empty reply)");
    if (answer.content.empty() && !answer.reasoning.empty()) {
      screen_.note("(only reasoning, no answer: more --max-tokens or --thinking off may help)");
    }
    if (answer.finish == "length") {
      screen_.note("(the reply ends at its length limit; \"go on\" makes it go on)");
    }
    std::string line = figures_line(answer.figures, answer.measured);
    // Without tokens nothing was computed again that had been computed before.
    if (answer.miss.find("tokens=") != std::string::npos) {
      line += " · miss: " + one_line(answer.miss.substr(0, answer.miss.find(';')), 40);
      if (!options_.message) line += ", /why";
    }
    screen_.note(line);
  }
  report_end(answer);
}

void ChatLoop::report_end(const Answer& answer) {
  if (answer.end == ReplyEnd::complete) return;
  if (answer.error) screen_.error(answer.error->describe());
  if (options_.message) {
    screen_.note(fmt::format("{} kept: `samovar chat --session {}` goes on from there",
                             answer.empty() ? "the message is" : "message and partial reply are",
                             session_->name()));
  } else if (answer.end == ReplyEnd::cut) {
    screen_.note(answer.empty()
                     ? "stopped before the first word; your message stays in the conversation. "
                       "/retry sends it again, /edit changes it"
                     : "stopped; what came is kept in the conversation. /retry asks again");
  } else {
    screen_.note(answer.empty()
                     ? "your message is kept: /retry sends it again, /edit changes it; another "
                       "message takes its place"
                     : "what came of the reply is kept in the conversation. /retry asks again");
  }
}

}  // namespace samovar::client
