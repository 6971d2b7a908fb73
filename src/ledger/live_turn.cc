#include "ledger/live_turn.h"

#include <utility>

namespace samovar {
namespace {

void apply(const TurnStarted& event, TurnRecord& record) {
  record.timings.prompt_tokens = event.prompt_tokens;
  record.timings.reused_tokens = event.reused_tokens;
  record.timings.source = event.source;
  record.timings.matched_tokens = event.facts.matched;
  record.facts = event.facts;
}

void apply(const TurnFinished& event, TurnRecord& record) {
  record.timings = event.timings;
  record.status = TurnStatus::complete;
}

// A turn without a token of reply has nothing to keep but its figures, unless the client left: then
// the same question is likely to come again.
void apply(const TurnFailed& event, TurnRecord& record) {
  record.timings = event.timings;
  const bool cut = !record.reply.empty() || event.error.kind == ErrorKind::cancelled;
  record.status = cut ? TurnStatus::incomplete : TurnStatus::failed;
  record.error = event.error.message;
}

template <class Event>
void apply(const Event&, TurnRecord&) {}  // text and progress

}  // namespace

void LiveTurn::on_token(Token token) {
  const std::scoped_lock lock(mutex_);
  record_.reply.push_back(token);
  record_.timings.reply_tokens = static_cast<Position>(record_.reply.size());
  if (changed_ == Change::none) changed_ = Change::tokens;
}

void LiveTurn::on_event(const TurnEvent& event) {
  if (std::holds_alternative<TurnText>(event) || std::holds_alternative<TurnProgress>(event)) {
    return;
  }
  update([&](TurnRecord& record) {
    std::visit([&](const auto& what) { apply(what, record); }, event);
  });
}

void LiveTurn::update(const std::function<void(TurnRecord&)>& change) {
  const std::scoped_lock lock(mutex_);
  change(record_);
  changed_ = Change::all;
}

void LiveTurn::close(std::int64_t now) {
  const std::scoped_lock lock(mutex_);
  record_.ended = now;
  changed_ = Change::all;
  closed_ = true;
}

TurnRecord LiveTurn::record() const {
  const std::scoped_lock lock(mutex_);
  return record_;
}

LiveTurn::Changes LiveTurn::take_changes() {
  const std::scoped_lock lock(mutex_);
  Changes changes{.what = std::exchange(changed_, Change::none), .closed = closed_};
  if (changes.what != Change::none) changes.record = record_;
  return changes;
}

}  // namespace samovar
