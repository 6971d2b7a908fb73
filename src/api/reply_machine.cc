#include "api/reply_machine.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "api/explain_json.h"
#include "api/json_text.h"
#include "api/reply_json.h"
#include "api/turn_headers.h"
#include "api/turn_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// Everything there is to say of a turn beside its reply.
Json timings_of(const TurnFinished& event, const TurnRecorder* recorder) {
  Json timings = timings_json(event.timings);
  if (recorder == nullptr) return timings;
  const TurnReport report = recorder->report();
  timings["turn"] = report.id;
  timings["session"] = report.session;
  timings["replayed_replies"] = report.replayed;
  timings["reasoning_restored"] = report.reasoning_restored;
  timings["neutralised"] = word_list(report.neutralised);
  timings["tool_order"] = report.tool_order.empty() ? Json() : Json(report.tool_order);
  timings["miss"] = report.miss ? explanation_json(*report.miss, ExplainTexts::hidden) : Json();
  return timings;
}

}  // namespace

ReplyMachine::ReplyMachine(Form form, std::unique_ptr<ReplyDialect> dialect,
                           std::unique_ptr<ReplyReader> reader, const Clock& clock,
                           std::shared_ptr<TurnRecorder> recorder)
    : form_(form),
      dialect_(std::move(dialect)),
      reader_(std::move(reader)),
      clock_(clock),
      recorder_(std::move(recorder)) {}

std::string ReplyMachine::open() {
  std::string out;
  if (streams()) dialect_->opened(out);
  return out;
}

std::string ReplyMachine::on_event(const TurnEvent& event) {
  std::string out;
  if (!done_) std::visit([&](const auto& each) { on(each, out); }, event);
  return out;
}

std::string ReplyMachine::fail(const Error& error) {
  std::string out;
  if (std::exchange(done_, true)) return out;
  if (streams()) {
    dialect_->failed(error, out);
  } else if (error.kind == ErrorKind::too_large) {
    response_ = context_length_response(error, dialect_->error_form());
  } else {
    response_ = error_response(error, 1, dialect_->error_form());
  }
  return out;
}

void ReplyMachine::on(const TurnRestoring& event, std::string& out) {
  if (prefill_began_ == 0) prefill_began_ = clock_.now();
  reused_ = event.done;
  tell_progress(event.done, event.total, out);
}

void ReplyMachine::on(const TurnStarted& event, std::string& out) {
  if (recorder_ != nullptr) recorder_->started(event);
  plan_ = event;
  prefill_began_ = clock_.now();
  reused_ = event.reused_tokens;
  if (streams()) dialect_->planned(event, out);
  tell_progress(event.reused_tokens, event.prompt_tokens, out);
}

void ReplyMachine::on(const TurnProgress& event, std::string& out) {
  tell_progress(event.done, event.total, out);
}

void ReplyMachine::on(const TurnText& event, std::string& out) {
  logprobs_.insert(logprobs_.end(), event.tokens.begin(), event.tokens.end());
  add(reader_->feed(event.text), out);
}

void ReplyMachine::on(const TurnFinished& event, std::string& out) {
  add(reader_->finish(), out);
  end_block(out);
  const char* finish = finish_reason(event.reason, reader_->called_tool());
  const ChatMessage said = message();
  if (recorder_ != nullptr)
    recorder_->finished(event, {finish, said, json_text(message_json(said))});
  const Json timings = timings_of(event, recorder_.get());
  const TurnStarted plan = plan_.value_or(TurnStarted{});
  const Tokens tokens = recorder_ == nullptr ? Tokens() : recorder_->reply_tokens();
  const ReplyDone reply{event, plan, finish, said, blocks_, logprobs_, timings, tokens};
  if (streams()) {
    dialect_->ended(reply, out);
  } else {
    response_ = dialect_->whole(reply);
  }
  done_ = true;  // what throws before is still told
  if (streams()) return;
  if (recorder_ != nullptr) add_turn_headers(recorder_->report(), plan_, response_.headers);
}

void ReplyMachine::on(const TurnFailed& event, std::string& out) {
  if (recorder_ != nullptr) recorder_->failed(event);
  if (streams()) add(reader_->finish(), out);  // text the parser still held back
  out += fail(event.error);
}

void ReplyMachine::tell_progress(Position done, Position total, std::string& out) {
  if (!streams()) return;
  dialect_->progress({reused_, done, total, clock_.now() - prefill_began_}, out);
}

void ReplyMachine::add(const std::vector<ReplyDelta>& deltas, std::string& out) {
  for (const ReplyDelta& delta : deltas) {
    add_text(ReplyBlock::Kind::reasoning, delta.reasoning, out);
    add_text(ReplyBlock::Kind::text, delta.content, out);
    if (delta.tool_call) add_call(*delta.tool_call, out);
  }
}

void ReplyMachine::add_text(ReplyBlock::Kind kind, std::string_view text, std::string& out) {
  if (text.empty()) return;
  const bool goes_on = block_open_ && blocks_.back().kind == kind;
  ReplyBlock& block = goes_on ? blocks_.back() : begin_block({.kind = kind}, out);
  grow(block, text, out);
}

void ReplyMachine::add_call(const ReplyDelta::Call& piece, std::string& out) {
  const auto known = std::ranges::find_if(blocks_, [&](const ReplyBlock& block) {
    return block.kind == ReplyBlock::Kind::tool_call && block.call == piece.index;
  });
  if (known != blocks_.end()) return grow(*known, piece.arguments, out);
  ReplyBlock block{.kind = ReplyBlock::Kind::tool_call};
  block.call = piece.index;
  block.id = piece.id.empty() ? random_id(dialect_->call_id_prefix())
                              : piece.id;  // some formats have none
  block.name = piece.name;
  grow(begin_block(std::move(block), out), piece.arguments, out);
}

ReplyBlock& ReplyMachine::begin_block(ReplyBlock block, std::string& out) {
  end_block(out);
  block.index = blocks_.size();
  blocks_.push_back(std::move(block));
  block_open_ = true;
  if (streams()) dialect_->block_begins(blocks_.back(), out);
  return blocks_.back();
}

void ReplyMachine::grow(ReplyBlock& block, std::string_view piece, std::string& out) {
  if (piece.empty()) return;
  block.text += piece;
  if (!streams()) return;
  const std::vector<Sampled> tokens = std::exchange(logprobs_, {});
  dialect_->block_grows(block, piece, tokens, out);
}

void ReplyMachine::end_block(std::string& out) {
  if (!std::exchange(block_open_, false) || !streams()) return;
  dialect_->block_ends(blocks_.back(), out);
}

ChatMessage ReplyMachine::message() const {
  ChatMessage message{.role = Role::assistant};
  for (const ReplyBlock& block : blocks_) {
    if (block.kind == ReplyBlock::Kind::reasoning) message.reasoning += block.text;
    if (block.kind == ReplyBlock::Kind::text) message.content += block.text;
    if (block.kind == ReplyBlock::Kind::tool_call) {
      message.tool_calls.push_back({block.id, block.name, block.text});
    }
  }
  return message;
}

}  // namespace samovar
