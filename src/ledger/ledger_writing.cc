// The ledger's way to its file: what changed goes there in one transaction; what the disk refuses
// waits, within bounds, and what a damaged file has lost is written again as far as it is known.
#include <utility>

#include "base/log.h"
#include "ledger/ledger.h"

namespace samovar {
namespace {

constexpr Micros kRetryAfter = 10 * kSecond;  // after the disk refused
constexpr std::size_t kWaitingMax = 1000;     // turns that ended and cannot be written

}  // namespace

bool Ledger::flush() { return write_changes(true); }

Ledger::Batch Ledger::take_batch() const {
  Batch batch;
  for (const auto& turn : live_turns()) {
    auto changes = turn->take_changes();
    if (changes.what != LiveTurn::Change::none) batch.touched.push_back(turn);
    if (changes.what == LiveTurn::Change::all) batch.whole.push_back(std::move(changes.record));
    if (changes.what == LiveTurn::Change::tokens) batch.tokens.push_back(std::move(changes.record));
    if (changes.closed) batch.closed.push_back(turn->id());
  }
  return batch;
}

Status Ledger::put(const Batch& batch) {
  const std::int64_t expires = clock_.wall_seconds() + options_.token_seconds;
  Status status;
  if (!batch.whole.empty()) status = file_->put(batch.whole, expires);
  if (status && !batch.tokens.empty()) status = file_->put_replies(batch.tokens, expires);
  return status;
}

// True if the file was found damaged and is a new one now. What it held is lost, but for the turns
// that are in memory: they are written again. Under file_mutex_, after every use of the file.
bool Ledger::begun_anew() {
  const std::string notice = file_->take_notice();
  if (notice.empty()) return false;
  log_warning("ledger: {}", notice);
  ++forgotten_;
  for (const auto& turn : live_turns()) turn->update([](TurnRecord&) {});
  const std::scoped_lock lock(live_mutex_);
  contexts_.clear();
  return true;
}

// Memory is freed by nobody else than time, which is too long for whole requests. Under
// file_mutex_.
void Ledger::keep_within_memory() {
  if (!file_->in_memory()) return;
  const auto dropped = file_->keep_within(options_.memory_bytes);
  if (!dropped) {
    log_warning("ledger: {}", dropped.error().describe());
  } else if (*dropped) {
    ++forgotten_;
  }
}

void Ledger::say_health(const Status& status) {
  if (status.has_value() != failing_) return;
  failing_ = !status;
  if (failing_) {
    log_warning("ledger: {}; turns are kept in memory until it works", status.error().describe());
  } else {
    log_info("ledger: writing works again");
  }
}

// One transaction for everything that changed. What could not be written stays in memory and is
// tried again.
bool Ledger::write_changes(bool now) {
  const std::scoped_lock file_lock(file_mutex_);
  if (!now && failing_ && clock_.now() < retry_at_) return false;
  Batch batch = take_batch();
  Status status = put(batch);
  if (begun_anew()) {
    batch = take_batch();
    status = put(batch);
    // A disk that spoils the new one as well is left alone for a while.
    if (begun_anew()) status = fail(ErrorKind::internal, "the new ledger is damaged too");
  }
  say_health(status);
  if (!status) {
    write_failed(batch.touched);
    return false;
  }
  if (!batch.touched.empty()) keep_within_memory();
  const std::scoped_lock lock(live_mutex_);
  for (const TurnRecord& turn : batch.whole) {
    if (!turn.reply.empty()) contexts_.insert(turn.context);
  }
  for (const std::string& id : batch.closed) live_.erase(id);
  return true;
}

// What could not be written is tried again later; meanwhile it must not fill the memory.
void Ledger::write_failed(const std::vector<std::shared_ptr<LiveTurn>>& touched) {
  retry_at_ = clock_.now() + kRetryAfter;
  for (const auto& turn : touched) turn->update([](TurnRecord&) {});
  std::size_t waiting = 0;
  for (const auto& turn : live_turns()) {
    if (!turn->ended()) continue;
    turn->shrink();
    ++waiting;
  }
  for (const auto& turn : live_turns()) {  // oldest first
    if (waiting <= kWaitingMax) break;
    if (!turn->ended()) continue;
    const std::scoped_lock lock(live_mutex_);
    live_.erase(turn->id());
    --waiting;
  }
}

}  // namespace samovar
