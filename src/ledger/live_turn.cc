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
  // Whoever reads the reply knows it better; there may be nobody.
  if (record.finish.empty()) {
    record.finish = event.reason == FinishReason::length ? "length" : "stop";
  }
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

Tokens LiveTurn::reply() const {
  const std::scoped_lock lock(mutex_);
  return record_.reply;
}

void LiveTurn::shrink() {
  const std::scoped_lock lock(mutex_);
  for (std::string* text : {&record_.request, &record_.message}) {
    text->clear();
    text->shrink_to_fit();
  }
  record_.prompt = {};
}

LiveTurn::Changes LiveTurn::take_changes() {
  const std::scoped_lock lock(mutex_);
  Changes changes{.what = std::exchange(changed_, Change::none), .closed = closed_};
  if (forgotten_) changes.what = Change::none;
  if (changes.what == Change::all) changes.record = record_;
  if (changes.what == Change::tokens) {  // the engine thread may be waiting for the lock
    changes.record.id = record_.id;
    changes.record.context = record_.context;
    changes.record.primer = record_.primer;
    changes.record.reply = record_.reply;
    changes.record.syntax = record_.syntax;
  }
  return changes;
}

}  // namespace samovar
