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

LiveTurn::LiveTurn(TurnRecord record)
    : given_(std::make_shared<const Given>(std::exchange(record.prompt, {}),
                                           std::exchange(record.request, {}))),
      record_(std::move(record)) {}

void LiveTurn::add_given(const std::shared_ptr<const Given>& given, TurnRecord& record) {
  if (given == nullptr) return;
  record.prompt = given->prompt;
  record.request = given->request;
}

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
  std::shared_ptr<const Given> given;
  TurnRecord record;
  {
    const std::scoped_lock lock(mutex_);
    given = given_;
    record = record_;
  }
  add_given(given, record);
  return record;
}

std::string LiveTurn::session() const {
  const std::scoped_lock lock(mutex_);
  return record_.session;
}

bool LiveTurn::ended() const {
  const std::scoped_lock lock(mutex_);
  return record_.ended != 0;
}

Tokens LiveTurn::reply() const {
  const std::scoped_lock lock(mutex_);
  return record_.reply;
}

void LiveTurn::shrink() {
  std::shared_ptr<const Given> given;  // freed outside the lock
  std::string message;
  const std::scoped_lock lock(mutex_);
  given.swap(given_);
  message.swap(record_.message);
}

LiveTurn::Changes LiveTurn::take_changes() {
  Changes changes;
  std::shared_ptr<const Given> given;
  {
    const std::scoped_lock lock(mutex_);
    changes.closed = closed_;
    changes.what = std::exchange(changed_, Change::none);
    if (forgotten_) changes.what = Change::none;
    if (changes.what == Change::all) {
      changes.record = record_;
      given = given_;
    } else if (changes.what == Change::tokens) {
      changes.record.id = record_.id;
      changes.record.context = record_.context;
      changes.record.primer = record_.primer;
      changes.record.reply = record_.reply;
      changes.record.syntax = record_.syntax;
    }
  }
  add_given(given, changes.record);
  return changes;
}

}  // namespace samovar
