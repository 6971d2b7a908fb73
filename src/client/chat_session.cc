#include "client/chat_session.h"

#include <utility>

#include "client/text.h"

namespace samovar::client {
namespace {

void add(std::optional<std::int64_t>& total, const std::optional<std::int64_t>& more) {
  if (more) total = total.value_or(0) + *more;
}

}  // namespace

ChatSession::ChatSession(const ChatFolder& folder, std::string name, ChatSetup setup, Say say)
    : folder_(folder), name_(std::move(name)), setup_(std::move(setup)), say_(std::move(say)) {}

Result<std::unique_ptr<ChatSession>> ChatSession::resume(const ChatFolder& folder,
                                                         const std::string& name, Say say) {
  if (!folder.exists(name)) {
    const auto missing = folder.load(name);
    if (!missing) return std::unexpected(missing.error());
  }
  auto transcript = folder.open(name);  // locked first: nobody appends while it is read
  if (!transcript) return std::unexpected(transcript.error());
  auto loaded = folder.load(name);
  if (!loaded) return std::unexpected(loaded.error());
  auto session = std::make_unique<ChatSession>(folder, name, loaded->setup, std::move(say));
  session->transcript_ = std::move(*transcript);
  session->history_ = loaded->history;
  session->last_turn_ = loaded->last_turn;
  session->turns_ = loaded->turns;
  session->totals_ = loaded->totals;
  session->loaded_ = std::move(*loaded);
  return session;
}

void ChatSession::set_setup(const ChatSetup& setup) {
  if (setup == setup_) return;
  setup_ = setup;
  if (transcript_) saved(transcript_->setup(setup_));
}

void ChatSession::set_system(std::string_view text) {
  history_.system = valid_utf8(text);
  if (transcript_) saved(transcript_->system(history_.system));
}

void ChatSession::user(std::string_view text) {
  if (history_.pending()) back(history_.messages.size() - 1);
  Message message;
  message.user = true;
  message.content = valid_utf8(text);
  if (!transcript_) begin_file();
  if (transcript_) saved(transcript_->user(message.content));
  history_.messages.push_back(std::move(message));
}

void ChatSession::piece(std::string_view content, std::string_view reasoning) {
  if (transcript_) saved(transcript_->piece(content, reasoning));
}

void ChatSession::end(const ReplyNote& note, std::string content, std::string reasoning) {
  if (transcript_) saved(transcript_->end(note));
  last_turn_ = note.turn;
  add(totals_.prompt_tokens, note.figures.prompt_tokens);
  add(totals_.reused_tokens, note.figures.reused_tokens);
  add(totals_.computed_tokens, note.figures.computed_tokens);
  add(totals_.reply_tokens, note.figures.reply_tokens);
  if (note.end == ReplyEnd::failed && content.empty() && reasoning.empty()) return;
  ++turns_;
  Message message;
  message.content = std::move(content);
  message.reasoning = std::move(reasoning);
  message.cut = note.end != ReplyEnd::complete;
  history_.messages.push_back(std::move(message));
}

void ChatSession::back(std::size_t messages) {
  if (messages < history_.messages.size()) history_.messages.resize(messages);
  if (transcript_) saved(transcript_->back(messages));
}

void ChatSession::begin_file() {
  auto opened = folder_.open(name_);
  if (!opened) {
    saved(std::unexpected(opened.error()));
    return;
  }
  transcript_ = std::move(*opened);
  saved(transcript_->setup(setup_));
  if (!history_.system.empty()) saved(transcript_->system(history_.system));
  // What was said while the folder could not be written.
  for (const Message& message : history_.messages) {
    if (message.user) {
      saved(transcript_->user(message.content));
      continue;
    }
    saved(transcript_->piece(message.content, message.reasoning));
    saved(transcript_->end({.end = message.cut ? ReplyEnd::cut : ReplyEnd::complete}));
  }
}

void ChatSession::saved(const Status& status) {
  if (!status && !failing_) {
    say_("this conversation is not being saved: " + status.error().describe() +
         ". It goes on; what is not saved is kept in memory and written when that works again");
  }
  if (status && failing_) say_("this conversation is being saved again");
  failing_ = !status;
}

}  // namespace samovar::client
