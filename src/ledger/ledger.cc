#include "ledger/ledger.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include "base/log.h"

namespace samovar {
namespace {

constexpr std::int64_t kExpireEvery = 3600;  // seconds

bool matches(const TurnRecord& turn, const TurnQuery& query) {
  return (query.session.empty() || turn.session == query.session) &&
         (!query.status || turn.status == *query.status);
}

}  // namespace

std::size_t Ledger::ContextHash::operator()(const Sha256& hash) const {
  std::size_t value = 0;
  std::memcpy(&value, hash.data(), sizeof value);
  return value;
}

std::unique_ptr<Ledger> Ledger::open(LedgerOptions options, const Clock& clock) {
  std::string notice;
  std::unique_ptr<LedgerFile> file;
  if (!options.path.empty()) {
    auto opened = LedgerFile::open(options.path);
    if (opened) {
      file = std::move(*opened);
      notice = file->take_notice();
    } else {
      notice = opened.error().describe() + "; turns are recorded in memory only";
    }
  }
  if (file == nullptr) {
    auto opened = LedgerFile::open(":memory:");
    if (!opened) {  // out of memory, or a broken library: nothing to go on with
      log_error("{}", opened.error().describe());
      return nullptr;
    }
    file = std::move(*opened);
  }
  if (!notice.empty()) log_warning("ledger: {}", notice);
  return std::unique_ptr<Ledger>(
      new Ledger(std::move(options), clock, std::move(file), std::move(notice)));
}

Ledger::Ledger(LedgerOptions options, const Clock& clock, std::unique_ptr<LedgerFile> file,
               std::string notice)
    : options_(std::move(options)),
      clock_(clock),
      notice_(std::move(notice)),
      file_(std::move(file)) {
  const std::int64_t now = clock_.wall_seconds();
  const auto cut = file_->interrupt_running(now, "the server ended before the reply did");
  if (!cut) {
    log_warning("ledger: {}", cut.error().describe());
  } else if (*cut > 0) {
    log_info("ledger: {} replies were cut when the server ended; they are kept as incomplete",
             *cut);
  }
  if (const auto expired =
          file_->expire(now, now - options_.record_seconds, now - options_.token_seconds);
      !expired) {
    log_warning("ledger: {}", expired.error().describe());
  }
  expired_at_ = now;
  if (const auto known = file_->contexts()) contexts_.insert(known->begin(), known->end());
  begun_anew();  // not all damage shows when the file is opened
  thread_ = std::thread([this] { run(); });
}

Ledger::~Ledger() {
  {
    const std::scoped_lock lock(live_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  write_changes(true);
}

std::shared_ptr<LiveTurn> Ledger::begin(TurnRecord record) {
  record.keep_text = record.keep_text || options_.keep_text;
  auto turn = std::make_shared<LiveTurn>(std::move(record));
  const std::scoped_lock lock(live_mutex_);
  turn->order_ = ++begun_;
  live_[turn->id()] = turn;
  return turn;
}

std::vector<std::shared_ptr<LiveTurn>> Ledger::live_turns() const {
  std::vector<std::shared_ptr<LiveTurn>> turns;
  const std::scoped_lock lock(live_mutex_);
  turns.reserve(live_.size());
  for (const auto& [id, turn] : live_) turns.push_back(turn);
  std::ranges::sort(turns, {}, [](const auto& turn) { return turn->order_; });
  return turns;
}

void Ledger::run() {
  std::unique_lock lock(live_mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, std::chrono::microseconds(options_.flush), [this] { return stopping_; });
    if (stopping_) break;
    const bool idle = live_.empty();
    lock.unlock();
    if (!idle) write_changes(false);
    expire_if_due();
    lock.lock();
  }
}

void Ledger::expire_if_due() {
  const std::int64_t now = clock_.wall_seconds();
  const std::scoped_lock lock(file_mutex_);
  if (now - expired_at_ < kExpireEvery) return;
  expired_at_ = now;
  if (const auto done =
          file_->expire(now, now - options_.record_seconds, now - options_.token_seconds);
      !done) {
    log_warning("ledger: {}", done.error().describe());
  }
  ++forgotten_;
  begun_anew();
}

Result<std::optional<TurnRecord>> Ledger::find(const std::string& id) {
  {
    const std::scoped_lock lock(live_mutex_);
    const auto found = live_.find(id);
    if (found != live_.end()) {
      if (found->second->forgotten()) return std::nullopt;
      return found->second->record();
    }
  }
  const std::scoped_lock lock(file_mutex_);
  auto found = file_->find(id);
  begun_anew();
  return found;
}

Result<std::vector<TurnRecord>> Ledger::list(const TurnQuery& query) {
  write_changes(false);  // running turns have their row, and their place in the order
  const std::scoped_lock lock(file_mutex_);
  auto turns = file_->list(query);
  begun_anew();
  if (!turns) return turns;
  for (TurnRecord& turn : *turns) {
    const std::scoped_lock live_lock(live_mutex_);
    const auto found = live_.find(turn.id);
    if (found == live_.end()) continue;
    TurnRecord now = found->second->record();
    if (matches(now, query)) turn = std::move(now);
  }
  return turns;
}

std::vector<TurnRecord> Ledger::live_at(const Sha256& context) const {
  std::vector<std::shared_ptr<LiveTurn>> turns;
  {
    const std::scoped_lock lock(live_mutex_);
    for (const auto& [id, turn] : live_) {
      if (turn->context() == context && !turn->forgotten()) turns.push_back(turn);
    }
  }
  std::ranges::sort(turns, std::greater<>(), [](const auto& turn) { return turn->order_; });
  std::vector<TurnRecord> found;
  found.reserve(turns.size());
  for (const auto& turn : turns) found.push_back(turn->record());
  return found;
}

std::vector<TurnRecord> Ledger::replies_at(const Sha256& context, int limit) {
  {
    const std::scoped_lock lock(live_mutex_);
    if (!contexts_.contains(context)) return {};
  }
  const std::scoped_lock lock(file_mutex_);
  auto turns = file_->replies_at(context, limit);
  begun_anew();
  if (turns) return std::move(*turns);
  log_warning("ledger: {}", turns.error().describe());
  return {};
}

Result<bool> Ledger::erase(const std::string& id) {
  const std::scoped_lock lock(file_mutex_);
  bool running = false;
  {
    const std::scoped_lock live_lock(live_mutex_);
    const auto found = live_.find(id);
    running = found != live_.end() && !found->second->forgotten();
    if (running) found->second->forget();
  }
  auto erased = file_->erase(id);
  ++forgotten_;
  begun_anew();
  if (erased && running) return true;
  return erased;
}

Result<PurgedTurns> Ledger::purge_session(const std::string& session) {
  write_changes(false);  // running turns have their row, so that they are counted
  const std::scoped_lock lock(file_mutex_);
  std::set<Sha256> contexts;
  for (const auto& turn : live_turns()) {
    if (turn->session() != session) continue;
    turn->forget();
    contexts.insert(turn->context());
  }
  auto purged = file_->purge_session(session);
  ++forgotten_;
  begun_anew();
  if (!purged) return purged;
  contexts.insert(purged->contexts.begin(), purged->contexts.end());
  purged->contexts.assign(contexts.begin(), contexts.end());
  return purged;
}

}  // namespace samovar
