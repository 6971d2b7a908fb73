#include "client/answering.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "client/text.h"
#include "client/user_input.h"

namespace samovar::client {
namespace {

constexpr std::size_t npos = std::string::npos;
constexpr Micros kTick = 100 * kMillisecond;               // the waiting line moves
constexpr std::size_t kRefusalMax = std::size_t{1} << 20;  // bytes
constexpr Micros kKeepEvery = 500 * kMillisecond;

}  // namespace

Answering::Answering(Transfer& transfer, Screen& screen, Keyboard* keyboard, SignalPipe& signals,
                     const Clock& clock)
    : transfer_(transfer), screen_(screen), keyboard_(keyboard), signals_(signals), clock_(clock) {}

double Answering::elapsed_ms() const { return to_ms(clock_.now() - began_); }

Answer Answering::run(const HttpCall& call, Keep keep) {
  keep_ = std::move(keep);
  url_ = call.url;
  began_ = kept_at_ = clock_.now();
  if (keyboard_ != nullptr) raw_.emplace(keyboard_->descriptor());
  transfer_.start(call);
  take_bytes();
  while (transfer_.running() && !stop_) step();
  answer_.measured.total_ms = elapsed_ms();
  conclude();
  transfer_.cancel();
  screen_.end_reply();
  raw_.reset();
  return std::move(answer_);
}

void Answering::step() {
  show_footer();
  std::vector<int> watched = {signals_.descriptor()};
  if (keyboard_ != nullptr && !keyboard_->ended()) watched.push_back(keyboard_->descriptor());
  transfer_.wait(watched, kTick);
  take_bytes();
  take_signals();
  if (keyboard_ != nullptr) take_keys();
  keep_due(false);
  if (screen_.gone()) stop_ = answer_.leave = true;
}

void Answering::take_bytes() {
  if (!transfer_.answered()) return;
  if (answer_.status == 0) {
    answer_.status = transfer_.status();
    answer_.turn = transfer_.header("x-samovar-turn");
    answer_.miss = transfer_.header("x-samovar-miss");
    const std::string type = transfer_.header("content-type");
    const bool reply = answer_.status >= 200 && answer_.status < 300 && type.find("html") == npos;
    if (reply) reader_.emplace(!type.starts_with("application/json"));
  }
  const std::string bytes = transfer_.take_body();
  if (!reader_) {
    if (refused_.size() < kRefusalMax) refused_ += bytes;
    return;
  }
  if (!bytes.empty()) take(reader_->feed(bytes));
  if (!reader_->error().empty()) stop_ = true;
}

void Answering::take(const ReplyReader::Piece& piece) {
  if (piece.content.empty() && piece.reasoning.empty()) return;
  if (!answer_.measured.first_text_ms) {
    answer_.measured.first_text_ms = elapsed_ms();
    show_footer();  // the bar has done its work
  }
  answer_.reasoning += piece.reasoning;
  answer_.content += piece.content;
  screen_.reasoning(piece.reasoning);
  screen_.content(piece.content);
}

void Answering::take_signals() {
  while (const auto signal = signals_.next()) {
    switch (*signal) {
      case SIGINT:
        stop_ = answer_.interrupted = true;
        break;
      case SIGWINCH:
        screen_.resized();
        break;
      case SIGCONT:
        if (raw_) raw_->again();
        break;
      default:
        stop_ = answer_.leave = true;
        break;
    }
  }
}

void Answering::take_keys() {
  // Asked again without waiting: the wait may have ended for another reason.
  pollfd entry = {keyboard_->descriptor(), POLLIN, 0};
  if (!keyboard_->ended() && ::poll(&entry, 1, 0) > 0) {
    keyboard_->read();
  } else if (keyboard_->waiting()) {
    keyboard_->give_up();
  }
  if (keyboard_->ended()) stop_ = answer_.leave = true;  // the terminal is gone
  while (!stop_) {
    const auto key = keyboard_->next();
    if (!key) break;
    const LiveLine::Outcome outcome = live_.key(*key);
    if (outcome == LiveLine::Outcome::entered) entered();
    if (outcome == LiveLine::Outcome::leave) stop_ = answer_.leave = true;
  }
}

// A message ends the reply; a command waits for it.
void Answering::entered() {
  answer_.typed.push_back(live_.take());
  const std::string& text = answer_.typed.back();
  const bool command = parse_input(text).is_command();
  if (command) {
    screen_.note("> " + text + "   (when the reply is done; Ctrl-C stops it)");
  } else {
    stop_ = true;
  }
}

void Answering::show_footer() {
  if (!screen_.terminal()) return;
  std::vector<std::string> lines;
  if (!answer_.measured.first_text_ms) {
    const auto progress = reader_ ? reader_->progress() : std::nullopt;
    const bool computing = progress && progress->done < progress->total;
    const double ms = elapsed_ms();
    lines.push_back(computing ? progress_line(*progress, screen_.columns() - 1)
                              : waiting_line(ms / 1000, static_cast<int>(ms / to_ms(kTick))));
  }
  if (!live_.empty()) lines.push_back("> " + live_.text());
  screen_.footer(lines);
}

void Answering::keep_due(bool all) {
  if (!all && clock_.now() - kept_at_ < kKeepEvery) return;
  const std::string_view content = std::string_view(answer_.content).substr(kept_content_);
  const std::string_view reasoning = std::string_view(answer_.reasoning).substr(kept_reasoning_);
  if (content.empty() && reasoning.empty()) return;
  kept_at_ = clock_.now();
  kept_content_ = answer_.content.size();
  kept_reasoning_ = answer_.reasoning.size();
  if (keep_) keep_(content, reasoning);
}

void Answering::conclude() {
  take_bytes();
  if (reader_ && !transfer_.running() && !transfer_.failure()) take(reader_->finish());
  conclude_answer();
  answer_.begun = live_.take();
  keep_due(true);
}

void Answering::conclude_answer() {
  const bool cut = stop_ && (answer_.interrupted || answer_.leave || !answer_.typed.empty());
  if (reader_) {
    answer_.finish = reader_->finish_reason();
    answer_.figures = reader_->figures();
    answer_.tool = reader_->tool();
    answer_.unreadable = reader_->unreadable();
    if (answer_.turn.empty()) answer_.turn = reader_->id();
  }
  if (reader_ && !reader_->error().empty()) {
    answer_.error = Error{ErrorKind::internal, reader_->error(), "", ""};
  } else if (reader_ && reader_->ended()) {
    answer_.end = ReplyEnd::complete;
  } else if (cut) {
    answer_.end = ReplyEnd::cut;
  } else if (transfer_.failure()) {
    answer_.error = transfer_.failure();
  } else if (!reader_) {
    answer_.error = refusal(answer_.status, refused_, base_url(url_.substr(0, url_.find("/v1/"))),
                            transfer_.header("retry-after"));
  } else {
    answer_.error =
        Error{ErrorKind::unavailable, "the server ended the stream before the reply's end", "", ""};
  }
}

}  // namespace samovar::client
