#include "api/chat_stream.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "api/errors.h"
#include "api/json_text.h"
#include "api/turn_end.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// The `delta` object, by hand: it is written once per token.
std::string delta_text(const ReplyDelta& delta) {
  std::string out = "{";
  const auto key = [&](std::string_view name) {
    if (out.size() > 1) out += ',';
    out += '"';
    out += name;
    out += "\":";
  };
  if (!delta.reasoning.empty()) {
    key("reasoning_content");
    append_json_string(out, delta.reasoning);
  }
  if (!delta.content.empty()) {
    key("content");
    append_json_string(out, delta.content);
  }
  if (delta.tool_call) {
    const ReplyDelta::Call& call = *delta.tool_call;
    key("tool_calls");
    out += "[{\"index\":" + std::to_string(call.index);
    if (!call.name.empty()) {  // the first piece of a call
      out += ",\"id\":" + json_string(call.id);
      out += R"(,"type":"function","function":{"name":)" + json_string(call.name) + ',';
    } else {
      out += R"(,"function":{)";
    }
    out += "\"arguments\":";
    append_json_string(out, call.arguments);
    out += "}}]";
  }
  out += '}';
  return out;
}

}  // namespace

ChatStream::ChatStream(const ReplyIdentity& identity, ChatStreamOptions options,
                       const ChatPath& chat, std::unique_ptr<ReplyReader> reader,
                       const Clock& clock, std::shared_ptr<TurnRecorder> recorder)
    : options_(options),
      chat_(chat),
      reader_(std::move(reader)),
      clock_(clock),
      recorder_(std::move(recorder)) {
  head_ = "data: {\"id\":" + json_string(identity.id) +
          R"(,"object":"chat.completion.chunk","created":)" + std::to_string(identity.created) +
          ",\"model\":" + json_string(identity.model) +
          ",\"system_fingerprint\":" + json_string(kSystemFingerprint) + ",\"choices\":[";
  tail_ = options.include_usage ? "],\"usage\":null" : "]";
}

std::string ChatStream::on_event(const TurnEvent& event) {
  std::string out;
  if (!done_) std::visit([&](const auto& each) { on(each, out); }, event);
  return out;
}

std::string ChatStream::fail(const Error& error) {
  if (done_) return {};
  done_ = true;
  return "data: " + error_json(error) + "\n\n";
}

void ChatStream::on(const TurnRestoring& event, std::string& out) {
  if (prefill_began_ == 0) prefill_began_ = clock_.now();
  reused_ = event.done;
  append_progress(event.done, event.total, out);
}

void ChatStream::on(const TurnStarted& event, std::string& out) {
  if (recorder_ != nullptr) recorder_->started(event);
  prefill_began_ = clock_.now();
  reused_ = event.reused_tokens;
  append_progress(event.reused_tokens, event.prompt_tokens, out);
}

void ChatStream::on(const TurnProgress& event, std::string& out) {
  append_progress(event.done, event.total, out);
}

void ChatStream::on(const TurnText& event, std::string& out) {
  if (options_.logprobs) {
    pending_logprobs_.insert(pending_logprobs_.end(), event.tokens.begin(), event.tokens.end());
  }
  append_deltas(reader_->feed(event.text), out);
}

void ChatStream::on(const TurnFinished& event, std::string& out) {
  done_ = true;
  append_deltas(reader_->finish(), out);
  begin(out);
  const char* finish = finish_reason(event.reason, reader_->called_tool());
  const Json timings = end_of_turn(event, finish, message_.message(), recorder_.get());
  append_chunk("{}", finish, ",\"timings\":" + json_text(timings), out);
  if (options_.include_usage) {
    out += head_ + "],\"usage\":" + json_text(usage_json(event.timings)) + "}\n\n";
  }
  out += "data: [DONE]\n\n";
}

void ChatStream::on(const TurnFailed& event, std::string& out) {
  if (recorder_ != nullptr) recorder_->failed(event);
  append_deltas(reader_->finish(), out);  // text the parser still held back
  out += fail(event.error);
}

void ChatStream::begin(std::string& out) {
  if (begun_) return;
  begun_ = true;
  // The first tokens' log probabilities belong to the first text, not to the role.
  std::vector<Sampled> pending = std::exchange(pending_logprobs_, {});
  append_chunk(R"({"role":"assistant","content":""})", nullptr, "", out);
  pending_logprobs_ = std::move(pending);
}

void ChatStream::append_deltas(std::vector<ReplyDelta> deltas, std::string& out) {
  for (ReplyDelta& delta : deltas) {
    if (delta.empty()) continue;
    message_.add(delta);
    begin(out);
    append_chunk(delta_text(delta), nullptr, "", out);
  }
}

// llama-server's form: `processed` includes what came from the cache.
void ChatStream::append_progress(Position done, Position total, std::string& out) {
  if (!options_.return_progress) return;
  begin(out);
  const Json progress = {{"total", total},
                         {"cache", reused_},
                         {"processed", done},
                         {"time_ms", to_ms(clock_.now() - prefill_began_)}};
  append_chunk("{}", nullptr, ",\"prompt_progress\":" + json_text(progress), out);
}

void ChatStream::append_chunk(std::string_view delta, const char* finish, std::string_view extra,
                              std::string& out) {
  out += head_;
  out += "{\"index\":0,\"delta\":";
  out += delta;
  out += ",\"logprobs\":";
  out += take_logprobs();
  out += ",\"finish_reason\":";
  out += finish == nullptr ? "null" : json_string(finish);
  out += '}';
  out += tail_;
  out += extra;
  out += "}\n\n";
}

std::string ChatStream::take_logprobs() {
  if (pending_logprobs_.empty()) return "null";
  const std::vector<Sampled> tokens = std::exchange(pending_logprobs_, {});
  return json_text(logprobs_json(tokens, chat_));
}

}  // namespace samovar
