// ReplyParser: reads the whole reply again as it grows and delivers what is new.
//
// Three positions in the text tell what still has to be delivered:
//   covered   up to here every byte is in the deltas, or was the format's own markup
//   read      up to here the text has been read (reading costs O(text), so it is done in steps)
//   size      what has arrived
// If the format rejects the text, or a later reading contradicts what was delivered, delivery stays
// where it is; when that persists, or at the end, everything after `covered` is delivered as
// content.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "chat/chat_format.h"
#include "chat/reply_syntax.h"
#include "chat/utf8.h"

namespace samovar {
namespace {

// A reply of n bytes is read again when n/512 bytes are new: about a millisecond of reading for
// every 16 tokens of a reply of 16k tokens.
constexpr std::size_t kReadFraction = 512;

// A rejection may be a matter of the next few bytes. After this many it is final.
constexpr std::size_t kPatienceBytes = 256;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

struct ReplyParser::State {
  explicit State(std::shared_ptr<const ReplySyntax> reply_syntax)
      : syntax(std::move(reply_syntax)) {}

  void step(std::vector<ReplyDelta>& deltas);
  void conclude(std::vector<ReplyDelta>& deltas);
  bool extends_delivered(const Reading& reading) const;
  bool deliver(const Reading& reading, bool final, std::vector<ReplyDelta>& deltas);
  void deliver_call(std::size_t index, const ToolCall& call, std::vector<ReplyDelta>& deltas);
  void deliver_text(std::size_t begin, bool as_reasoning, std::vector<ReplyDelta>& deltas);

  std::shared_ptr<const ReplySyntax> syntax;
  Utf8Repair utf8;
  std::string text;
  std::size_t covered = 0;
  std::size_t read = 0;
  std::optional<std::size_t> rejected_since;
  bool raw = false;  // the format was given up: all further text is content

  // What was delivered.
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;
};

bool ReplyParser::State::extends_delivered(const Reading& reading) const {
  if (reading.verdict == Reading::Verdict::rejected) return false;
  if (!reading.reasoning.starts_with(reasoning) || !reading.content.starts_with(content)) {
    return false;
  }
  if (reading.calls.size() < calls.size()) return false;
  return std::ranges::equal(calls, std::span(reading.calls).first(calls.size()),
                            [](const ToolCall& delivered, const ToolCall& now) {
                              return now.name == delivered.name &&
                                     now.arguments.starts_with(delivered.arguments);
                            });
}

void ReplyParser::State::deliver_call(std::size_t index, const ToolCall& call,
                                      std::vector<ReplyDelta>& deltas) {
  ReplyDelta::Call piece{.index = index, .id = {}, .name = {}, .arguments = {}};
  if (index == calls.size()) {
    calls.push_back({call.id, call.name, {}});  // many formats have no ids
    piece.id = calls.back().id;
    piece.name = call.name;
  }
  ToolCall& delivered = calls[index];
  piece.arguments = call.arguments.substr(delivered.arguments.size());
  delivered.arguments = call.arguments;
  if (piece.name.empty() && piece.arguments.empty()) return;
  deltas.emplace_back().tool_call = std::move(piece);
}

// Returns false, and delivers nothing, if the reading contradicts what was delivered.
bool ReplyParser::State::deliver(const Reading& reading, bool final,
                                 std::vector<ReplyDelta>& deltas) {
  if (!extends_delivered(reading)) return false;
  // What was begun goes on first: text that is new stands behind it.
  const std::size_t begun = calls.size();
  for (std::size_t i = 0; i < begun; ++i) deliver_call(i, reading.calls[i], deltas);
  ReplyDelta delta;
  delta.reasoning = reading.reasoning.substr(reasoning.size());
  if (!delta.reasoning.empty()) deltas.push_back(std::exchange(delta, {}));
  delta.content = reading.content.substr(content.size());
  if (!delta.content.empty()) deltas.push_back(std::exchange(delta, {}));
  reasoning = reading.reasoning;
  content = reading.content;
  for (std::size_t i = begun; i < reading.calls.size(); ++i) {
    // Its name is certain once something of it follows.
    const ToolCall& call = reading.calls[i];
    const bool certain = i + 1 < reading.calls.size() || call.arguments.size() > 1 || final;
    if (call.name.empty() || !certain) break;
    deliver_call(i, call, deltas);
  }
  covered = std::max(covered, reading.covered(calls.size()));
  return true;
}

void ReplyParser::State::deliver_text(std::size_t begin, bool as_reasoning,
                                      std::vector<ReplyDelta>& deltas) {
  covered = text.size();
  if (begin >= text.size()) return;
  ReplyDelta& delta = deltas.emplace_back();
  (as_reasoning ? delta.reasoning : delta.content) = text.substr(begin);
}

void ReplyParser::State::step(std::vector<ReplyDelta>& deltas) {
  const Reading reading = read_reply(*syntax, text);
  read = text.size();
  const bool fits = deliver(reading, /*final=*/false, deltas);
  const bool finished = fits && reading.verdict == Reading::Verdict::complete;
  const std::size_t rest = std::max(covered, finished ? reading.consumed : 0);
  if (fits && (!finished || is_blank(std::string_view(text).substr(rest)))) {
    rejected_since.reset();
    return;
  }
  if (!rejected_since) rejected_since = text.size();
  if (text.size() - *rejected_since < kPatienceBytes) return;
  raw = true;
  deliver_text(rest, /*as_reasoning=*/false, deltas);
}

void ReplyParser::State::conclude(std::vector<ReplyDelta>& deltas) {
  const Reading reading = read_reply(*syntax, text);
  const bool fits = deliver(reading, /*final=*/true, deltas);
  if (!fits) return deliver_text(covered, /*as_reasoning=*/false, deltas);
  const bool finished = reading.verdict == Reading::Verdict::complete;
  const std::size_t rest = std::max(covered, finished ? reading.consumed : 0);
  if (is_blank(std::string_view(text).substr(rest))) return;
  // The reply was cut where the format held text back to see whether it becomes markup, or goes on
  // after the format's end.
  deliver_text(rest, !finished && reading.ends_in_reasoning, deltas);
}

ReplyParser::ReplyParser(std::shared_ptr<const ReplySyntax> syntax)
    : state_(std::make_unique<State>(std::move(syntax))) {}
ReplyParser::~ReplyParser() = default;
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;

std::vector<ReplyDelta> ReplyParser::feed(std::string_view bytes) {
  State& state = *state_;
  std::vector<ReplyDelta> deltas;
  state.text += state.utf8.push(bytes);
  const std::size_t fresh = state.text.size() - state.read;
  if (state.raw) {
    state.deliver_text(state.covered, /*as_reasoning=*/false, deltas);
  } else if (fresh > 0 && fresh >= state.text.size() / kReadFraction) {
    state.step(deltas);
  }
  return deltas;
}

std::vector<ReplyDelta> ReplyParser::finish() {
  State& state = *state_;
  std::vector<ReplyDelta> deltas;
  state.text += state.utf8.finish();
  if (state.raw) {
    state.deliver_text(state.covered, /*as_reasoning=*/false, deltas);
  } else {
    state.conclude(deltas);
  }
  return deltas;
}

bool ReplyParser::called_tool() const { return !state_->calls.empty(); }

}  // namespace samovar
