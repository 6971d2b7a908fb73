#include <iterator>
#include <utility>

#include "turn/turn_service.h"

namespace samovar {
namespace {

// Joins `event` into `last` if nothing is lost by it. Text is appended; of two progress reports
// only the newer one matters.
bool join(TurnEvent& last, TurnEvent& event) {
  if (auto* text = std::get_if<TurnText>(&last)) {
    auto* more = std::get_if<TurnText>(&event);
    if (more == nullptr) return false;
    text->text += more->text;
    text->tokens.insert(text->tokens.end(), std::make_move_iterator(more->tokens.begin()),
                        std::make_move_iterator(more->tokens.end()));
    return true;
  }
  const bool report =
      std::holds_alternative<TurnProgress>(last) || std::holds_alternative<TurnRestoring>(last);
  if (!report || last.index() != event.index()) return false;
  last = event;
  return true;
}

}  // namespace

void TurnStream::on_event(TurnEvent event) {
  if (observer_ != nullptr) observer_->on_event(event);
  {
    const std::scoped_lock lock(mutex_);
    if (!events_.empty() && join(events_.back(), event)) return;
    events_.push_back(std::move(event));
  }
  ready_.notify_one();
}

void TurnStream::on_token(Token token) {
  if (observer_ != nullptr) observer_->on_token(token);
}

bool TurnStream::cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

void TurnStream::cancel() { cancelled_.store(true, std::memory_order_relaxed); }

std::optional<TurnEvent> TurnStream::next(Micros timeout) {
  std::unique_lock lock(mutex_);
  ready_.wait_for(lock, std::chrono::microseconds(timeout), [&] { return !events_.empty(); });
  if (events_.empty()) return std::nullopt;
  TurnEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace samovar
