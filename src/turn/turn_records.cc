#include "turn/turn_records.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "explain/explain.h"
#include "explain/pick_before.h"
#include "explain/shape_codec.h"

namespace samovar {
namespace {

constexpr int kShapesLoaded = 64;  // of earlier runs, for the first explanations of this one

// Names of tools come from clients: one line of the log stays one line.
std::string printable(std::string text) {
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < ' ' || byte == 0x7F) byte = '?';
  }
  return text;
}

// Until the turn before is known.
const std::string& session_of(const TurnOrigin& origin) {
  return origin.session_key.empty() ? origin.id : origin.session_key;
}

// Without what a continued reply had said already.
TokenSpan prompt_of(const TurnOrigin& origin, const Prompt& prompt) {
  return TokenSpan(prompt.tokens).first(prompt.tokens.size() - origin.reply_so_far.size());
}

TurnRecord begin_record(const TurnOrigin& origin, const RenderedChat& rendered,
                        const std::string& model, std::int64_t now) {
  TurnRecord record;
  record.id = origin.id;
  record.session = session_of(origin);
  record.session_named = !origin.session_key.empty();
  record.dialect = origin.dialect;
  record.model = model;
  record.created = now;
  record.timings.prompt_tokens = rendered.prompt.size();
  if (origin.chat != nullptr) {
    record.messages = static_cast<std::int64_t>(origin.chat->messages.size());
    record.tools = static_cast<std::int64_t>(origin.chat->tools.size());
  }
  record.replayed = rendered.replayed;
  record.reasoning_restored = rendered.reasoning_restored;
  record.neutralised = origin.neutralised;
  record.tool_order = origin.tool_order;
  record.continues = origin.continues;
  record.bound = !rendered.grammar.gbnf.empty() && !rendered.grammar.lazy;
  record.context = rendered.context;
  const TokenSpan prompt = prompt_of(origin, rendered.prompt);
  const TokenSpan primer = prompt.subspan(static_cast<std::size_t>(rendered.prompt.primer_start));
  record.primer.assign(primer.begin(), primer.end());
  record.prompt.assign(prompt.begin(), prompt.end());
  record.reply = origin.reply_so_far;
  if (rendered.syntax != nullptr) record.syntax = ChatFormat::save(*rendered.syntax);
  record.syntax.stop = rendered.stop;
  record.keep_text = origin.keep_text;
  return record;
}

LiveView begin_view(const TurnOrigin& origin, const RenderedChat& rendered, const Clock& clock) {
  LiveView view;
  view.id = origin.id;
  view.session = session_of(origin);
  view.dialect = origin.dialect;
  view.background = origin.background;
  view.created = clock.wall_seconds();
  view.prompt_tokens = rendered.prompt.size();
  if (origin.began != 0) view.render = std::max<Micros>(0, clock.now() - origin.began);
  return view;
}

}  // namespace

// --- TurnRecorder ------------------------------------------------------------------------------

TurnRecorder::TurnRecorder(TurnRecords& records, TurnOrigin origin, const RenderedChat& rendered,
                           std::shared_ptr<const std::string> text)
    : records_(records),
      origin_(std::move(origin)),
      prompt_(std::make_shared<const Prompt>(rendered.prompt)),
      text_(std::move(text)),
      live_([&] {
        TurnRecord record = begin_record(origin_, rendered, records.env_.model_name,
                                         records.env_.clock.wall_seconds());
        if (records.keeps_text(origin_.keep_text)) record.request = origin_.body;
        return records.env_.ledger.begin(std::move(record));
      }()),
      on_board_(records.board_.add(begin_view(origin_, rendered, records.env_.clock),
                                   records.env_.clock.now())) {
  report_.id = origin_.id;
  report_.session = session_of(origin_);
  report_.neutralised = origin_.neutralised;
  report_.tool_order = origin_.tool_order;
  report_.replayed = rendered.replayed;
  report_.reasoning_restored = rendered.reasoning_restored;
}

void TurnRecorder::on_token(Token token) {
  live_->on_token(token);
  on_board_->on_token(records_.env_.clock.now());
}

void TurnRecorder::on_event(const TurnEvent& event) {
  live_->on_event(event);
  on_board_->on_event(event, records_.env_.clock.now());
  const auto* started = std::get_if<TurnStarted>(&event);
  const bool last =
      std::holds_alternative<TurnFinished>(event) || std::holds_alternative<TurnFailed>(event);
  if (started == nullptr && !last) return;
  bool nobody_reads = false;
  {
    const std::scoped_lock lock(mutex_);
    if (started != nullptr) started_ = *started;
    ended_ = ended_ || last;
    nobody_reads = last && left_;
  }
  if (!nobody_reads) return;
  // Comparing and parsing are not the engine thread's work.
  records_.env_.background.post([self = shared_from_this()] { self->complete_cut(); });
}

void TurnRecorder::started(const TurnStarted& event) {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(compared_, true)) return;
  }
  if (origin_.chat == nullptr) return started_again();
  const auto& env = records_.env_;
  ShapeOrigin origin;
  origin.turn_id = origin_.id;
  origin.session_key = origin_.session_key;
  origin.model = env.model;
  origin.template_id = env.template_id;
  auto shape = std::make_shared<TurnShape>(make_shape(*origin_.chat, *prompt_, origin));
  shape->request = origin_.chat;
  shape->rendered = text_;
  shape->tokens = std::shared_ptr<const Tokens>(prompt_, &prompt_->tokens);

  const auto recent = records_.recent_.all();
  std::vector<const TurnShape*> candidates;  // oldest first
  for (auto entry = recent.rbegin(); entry != recent.rend(); ++entry) {
    candidates.push_back(entry->shape->turn_id == origin_.id ? nullptr : entry->shape.get());
  }
  std::erase(candidates, nullptr);
  const auto before = pick_before(candidates, *shape);
  Figures figures;
  figures.reused = event.reused_tokens;
  figures.prefill_us_per_token = records_.prefill_rate();
  std::string session = report().session;
  const RecentTurns::Entry* predecessor = nullptr;
  if (before) {
    const TurnShape* found = candidates[*before];
    predecessor = &*std::ranges::find_if(
        recent, [&](const RecentTurns::Entry& entry) { return entry.shape.get() == found; });
    figures.same_run = predecessor->same_run;
    if (origin_.session_key.empty()) session = predecessor->session;
  }
  Explanation miss = explain(predecessor == nullptr ? nullptr : predecessor->shape.get(), *shape,
                             event.facts, figures);
  auto encoded = encode_shape(*shape);
  live_->update([&](TurnRecord& record) {
    record.miss = miss;
    record.session = session;
    record.shape = std::move(encoded);
  });
  if (!live_->forgotten()) records_.recent_.add(shape, session, miss);
  {
    const std::scoped_lock lock(mutex_);
    shape_ = std::move(shape);
    report_.miss = std::move(miss);
    report_.session = std::move(session);
  }
  tell_board();
}

// Its session and its miss, and which session its checkpoints belong to.
void TurnRecorder::tell_board() {
  const TurnReport report = this->report();
  std::optional<SessionId> kept_as;
  {
    const std::scoped_lock lock(mutex_);
    if (started_) kept_as = SessionId::from_hex(started_->kept_as);
  }
  on_board_->set_session(report.session);
  if (report.miss) on_board_->set_miss(*report.miss);
  if (kept_as) records_.board_.name_session(*kept_as, report.session);
}

// A reply that goes on: its conversation is that of the turn it continues.
void TurnRecorder::started_again() {
  std::shared_ptr<TurnShape> shape;
  for (const auto& entry : records_.recent_.all()) {
    if (entry.shape->turn_id != origin_.continues) continue;
    shape = std::make_shared<TurnShape>(*entry.shape);
    shape->turn_id = origin_.id;
  }
  Explanation none;
  none.title = "This turn goes on with a reply that was cut";
  live_->update([&](TurnRecord& record) { record.miss = none; });
  {
    const std::scoped_lock lock(mutex_);
    shape_ = std::move(shape);
    report_.miss = std::move(none);
  }
  tell_board();
}

void TurnRecorder::finished(const TurnFinished& event, ReplyEnd end) {
  records_.learn_rate(event.timings);
  live_->update([&](TurnRecord& record) {
    record.finish = end.finish;
    if (record.keep_text) record.message = std::move(end.formatted);
  });
  std::vector<std::string> ids;
  ids.reserve(end.message.tool_calls.size());
  for (const ToolCall& call : end.message.tool_calls) ids.push_back(call.id);
  complete(end.message, std::move(ids));
}

void TurnRecorder::failed(const TurnFailed&) { complete_cut(); }

void TurnRecorder::refused(const Error& error) {
  live_->on_event(TurnFailed{.error = error, .timings = {}});
  close();
}

void TurnRecorder::cancelled() {
  live_->update([](TurnRecord& record) {
    if (record.status != TurnStatus::complete) record.finish = "cancelled";
  });
}

void TurnRecorder::reader_left() {
  {
    const std::scoped_lock lock(mutex_);
    left_ = true;
    if (!ended_) return;  // the engine thread will complete it
  }
  complete_cut();
}

// A reply that was cut: what it says is read from its tokens. Called where nothing may throw.
void TurnRecorder::complete_cut() {
  try {
    read_and_complete();
  } catch (const std::exception& error) {
    log_warning("turn {}: what it left cannot be kept: {}", origin_.id, error.what());
    close();
  }
}

void TurnRecorder::read_and_complete() {
  std::optional<TurnStarted> unseen;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    unseen = started_;
  }
  if (unseen) started(*unseen);
  const TurnRecord record = live_->record();
  const ChatMessage reply =
      records_.reply_of(record).value_or(ChatMessage{.role = Role::assistant});
  if (record.keep_text && records_.env_.format) {
    std::string formatted = records_.env_.format(reply);
    live_->update([&](TurnRecord& changed) { changed.message = std::move(formatted); });
  }
  complete(reply, {});
}

void TurnRecorder::complete(const ChatMessage& reply, std::vector<std::string> call_ids) {
  const TurnRecord record = live_->record();
  std::shared_ptr<TurnShape> shape;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    shape = shape_;
  }
  const bool is_complete = record.status == TurnStatus::complete;
  charge_miss(record.timings);
  count_miss(record.timings);
  const auto replied = static_cast<Position>(record.reply.size());
  if (shape != nullptr) {
    auto whole = std::make_shared<TurnShape>(*shape);
    add_reply(*whole, reply, replied, is_complete);
    whole->reply_text = std::make_shared<const ChatMessage>(reply);
    const TokenSpan prompt = prompt_of(origin_, *prompt_);
    auto tokens = std::make_shared<Tokens>(prompt.begin(), prompt.end());
    tokens->insert(tokens->end(), record.reply.begin(), record.reply.end());
    whole->tokens = std::move(tokens);
    auto encoded = encode_shape(*whole);
    live_->update([&](TurnRecord& changed) { changed.shape = std::move(encoded); });
    if (!live_->forgotten()) {
      records_.recent_.add(std::move(whole), record.session, report().miss);
    }
  }
  const auto& env = records_.env_;
  // Not if its session was purged meanwhile; nor replies outside of a conversation.
  const bool keeps = !live_->forgotten() && record.context != Sha256{};
  if (keeps && env.remember && replied > 0) env.remember(record, call_ids);
  if (keeps && is_complete && records_.ended_ && origin_.chat != nullptr) {
    records_.ended_({origin_.chat, reply, prompt_, record.reply, record.session});
  }
  if (env.trace && origin_.chat != nullptr && !live_->forgotten()) {
    env.trace({origin_, record, reply, env.clock.now()});
  }
  log(record);
  live_->close(env.clock.wall_seconds());
  records_.board_.ended(on_board_);
}

// What the miss cost, at the rate that this very turn had: of what it got to before it ended.
void TurnRecorder::charge_miss(const TurnTimings& timings) {
  const std::scoped_lock lock(mutex_);
  if (!report_.miss || report_.miss->tokens_lost <= 0) return;
  const Position again = std::min(report_.miss->tokens_lost, timings.computed_tokens);
  report_.miss->seconds_lost = again <= 0 ? 0.0
                                          : static_cast<double>(again) *
                                                static_cast<double>(timings.prefill) / 1e6 /
                                                static_cast<double>(timings.computed_tokens);
  live_->update([&](TurnRecord& record) { record.miss = report_.miss; });
}

// Only what the turn really computed again: one that was cut early has not got to all of it.
void TurnRecorder::count_miss(const TurnTimings& timings) {
  const auto miss = report().miss;
  if (!miss) return;
  const Position again = std::min(miss->tokens_lost, timings.computed_tokens);
  if (again > 0) records_.env_.meter->missed(to_string(miss->cause), again);
}

void TurnRecorder::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  live_->close(records_.env_.clock.wall_seconds());
  records_.board_.ended(on_board_);
}

TurnReport TurnRecorder::report() const {
  const std::scoped_lock lock(mutex_);
  return report_;
}

void TurnRecorder::log(const TurnRecord& record) const {
  const TurnTimings& t = record.timings;
  std::string miss;
  if (record.miss && record.miss->tokens_lost > 0) {
    miss = fmt::format(
        "; miss {}: {} tokens{}", to_string(record.miss->cause), record.miss->tokens_lost,
        record.miss->first ? " from " + printable(place_text(*record.miss->first)) : "");
  }
  log_info(
      "turn {}: {}, {} prompt tokens = {} reused ({}) + {} computed in {:.0f} ms; first token "
      "{:.0f} ms; {} reply tokens in {:.0f} ms{}",
      record.id, to_string(record.status), t.prompt_tokens, t.reused_tokens, to_string(t.source),
      t.computed_tokens, to_ms(t.prefill), to_ms(t.first_token), t.reply_tokens, to_ms(t.decode),
      miss);
}

// --- TurnRecords -------------------------------------------------------------------------------

TurnRecords::TurnRecords(Environment environment) : env_(std::move(environment)) { load_shapes(); }

// What earlier runs left behind, so that a miss after a restart is explained too.
void TurnRecords::load_shapes() {
  auto turns = env_.ledger.list({.limit = kShapesLoaded});
  if (!turns) return log_warning("ledger: {}", turns.error().describe());
  std::ranges::reverse(*turns);
  for (const TurnRecord& turn : *turns) {
    auto shape = decode_shape(turn.shape);
    if (!shape) continue;
    recent_.add(std::make_shared<const TurnShape>(std::move(*shape)), turn.session, turn.miss,
                false);
  }
}

std::shared_ptr<TurnRecorder> TurnRecords::begin(TurnOrigin origin, RenderedChat& rendered) {
  auto text = std::make_shared<const std::string>(std::move(rendered.text));
  return std::make_shared<TurnRecorder>(*this, std::move(origin), rendered, std::move(text));
}

void TurnRecords::learn_rate(const TurnTimings& timings) {
  if (timings.computed_tokens < 16) return;
  const double rate =
      static_cast<double>(timings.prefill) / static_cast<double>(timings.computed_tokens);
  const std::scoped_lock lock(rate_mutex_);
  us_per_token_.add(rate);
}

double TurnRecords::prefill_rate() const {
  const std::scoped_lock lock(rate_mutex_);
  return us_per_token_.value();
}

std::optional<ChatMessage> TurnRecords::reply_of(const TurnRecord& record) const {
  if (record.reply.empty()) return std::nullopt;
  return env_.read_reply(record.syntax, record.reply);
}

std::optional<Explanation> TurnRecords::explanation_of(const TurnRecord& record) const {
  auto recent = recent_.miss_of(record.id);
  return recent ? recent : record.miss;
}

// The ledger first, so that nothing is loaded from it again.
Result<bool> TurnRecords::forget_turn(const std::string& id) {
  auto found = env_.ledger.find(id);
  if (!found) return std::unexpected(found.error());
  auto erased = env_.ledger.erase(id);
  if (!erased) return erased;
  recent_.forget_turn(id);
  if (env_.forget && *found) env_.forget((*found)->context);
  return erased;
}

Result<std::int64_t> TurnRecords::forget_session(const std::string& session) {
  const auto purged = env_.ledger.purge_session(session);
  if (!purged) return std::unexpected(purged.error());
  recent_.forget_session(session);
  for (const Sha256& context : purged->contexts) {
    if (env_.forget) env_.forget(context);
  }
  return purged->turns;
}

}  // namespace samovar
