// Doubles for the tests of api/: a chat format without a model, a turn service without an engine, a
// client without a socket. Header only, used by *_test.cc.
#pragma once

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/chat_path.h"
#include "api/http_types.h"
#include "base/clock.h"
#include "turn/turn_service.h"

namespace samovar::test {

using Json = nlohmann::ordered_json;

// Reads replies written as records "<kind>:<text>|": R reasoning, C content, H content that is held
// back until the end, B "index,id,name" begins a tool call, A "index,arguments" continues one, X
// throws.
class RecordReader final : public ReplyReader {
 public:
  std::vector<ReplyDelta> feed(std::string_view bytes) override {
    std::vector<ReplyDelta> deltas;
    buffer_ += bytes;
    for (std::size_t end; (end = buffer_.find('|')) != std::string::npos;
         buffer_.erase(0, end + 1)) {
      read(buffer_.substr(0, end), deltas);
    }
    return deltas;
  }
  std::vector<ReplyDelta> finish() override {
    ReplyDelta rest;
    rest.content = std::exchange(held_, "") + std::exchange(buffer_, "");
    return rest.empty() ? std::vector<ReplyDelta>{} : std::vector<ReplyDelta>{rest};
  }
  [[nodiscard]] bool called_tool() const override { return called_tool_; }

 private:
  static std::string take(std::string& text) {  // up to the next comma
    const std::size_t comma = text.find(',');
    std::string field = text.substr(0, comma);
    text.erase(0, comma == std::string::npos ? text.size() : comma + 1);
    return field;
  }
  static ReplyDelta::Call call_at(const std::string& index) {
    ReplyDelta::Call call;
    call.index = std::stoul(index);
    return call;
  }
  void read(const std::string& record, std::vector<ReplyDelta>& deltas) {
    std::string text = record.substr(2);
    ReplyDelta delta;
    switch (record[0]) {
      case 'R':
        delta.reasoning = text;
        break;
      case 'C':
        delta.content = text;
        break;
      case 'H':
        held_ += text;
        break;
      case 'B':
        called_tool_ = true;
        delta.tool_call = call_at(take(text));
        delta.tool_call->id = take(text);
        delta.tool_call->name = text;
        break;
      case 'A':
        delta.tool_call = call_at(take(text));
        delta.tool_call->arguments = text;
        break;
      default:
        throw std::runtime_error("bad record");
    }
    if (!delta.empty()) deltas.push_back(delta);
  }

  std::string buffer_;
  std::string held_;
  bool called_tool_ = false;
};

class FakeChat final : public ChatPath {
 public:
  [[nodiscard]] Result<RenderedChat> render(const ChatRequest& request) const override {
    last = request;
    if (on_render) on_render();
    if (error) return std::unexpected(*error);
    RenderedChat chat;
    chat.prompt.tokens = {1, 2, 3};
    chat.grammar.gbnf = "root ::= \"x\"";
    chat.generation_prompt = "<think>";
    chat.stop = {"<end>"};
    return chat;
  }
  [[nodiscard]] Result<RenderedChat> resume(const CutReply& cut) const override {
    RenderedChat chat;
    chat.prompt.tokens.assign(cut.prompt.begin(), cut.prompt.end());
    chat.prompt.primer_start = static_cast<Position>(cut.prompt.size() - cut.primer.size());
    for (const Token token : cut.reply) {
      chat.prompt.tokens.push_back(token);
      chat.said += "C:" + piece(token) + "|";
    }
    return chat;
  }
  [[nodiscard]] RenderedChat plain(std::string_view text) const override {
    return plain(tokenize(text));
  }
  [[nodiscard]] RenderedChat plain(Tokens tokens) const override {
    RenderedChat chat;
    chat.text = detokenize(tokens);
    chat.prompt.tokens = std::move(tokens);
    chat.prompt.primer_start = chat.prompt.size();
    return chat;
  }
  // One token a byte.
  [[nodiscard]] Tokens tokenize(std::string_view text) const override {
    Tokens tokens;
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  [[nodiscard]] std::string detokenize(TokenSpan tokens) const override {
    std::string text;
    for (const Token token : tokens) text += static_cast<char>(token);
    return text;
  }
  [[nodiscard]] const std::string& template_source() const override { return template_; }
  [[nodiscard]] std::unique_ptr<ReplyReader> reader(const RenderedChat&) const override {
    return std::make_unique<RecordReader>();
  }
  [[nodiscard]] std::string piece(Token token) const override {
    return token == 99 ? "\xC3" : "t" + std::to_string(token);  // 99: half a character
  }

  mutable ChatRequest last;
  std::function<void()> on_render;
  std::optional<Error> error;

 private:
  std::string template_ = "{{ messages }}";
};

class FakeTurns final : public TurnService {
 public:
  Result<std::shared_ptr<TurnStream>> submit(TurnRequest request,
                                             std::shared_ptr<TurnObserver> observer) override {
    last = std::move(request);
    ++submitted;
    if (error) return std::unexpected(*error);
    stream = std::make_shared<TurnStream>(std::move(observer));
    for (const TurnEvent& event : script) stream->on_event(event);
    return stream;
  }
  [[nodiscard]] int load() const override { return load_now; }

  std::vector<TurnEvent> script;  // happens at once on submit
  std::optional<Error> error;
  int load_now = 0;
  int submitted = 0;
  TurnRequest last;
  std::shared_ptr<TurnStream> stream;
};

// The client of a streamed response. `on_poll` runs whenever the server looks whether it is there,
// which is before each wait: tests move time and the turn from there, so nothing sleeps.
class FakeClient final : public BodyWriter {
 public:
  bool write(std::string_view bytes) override {
    if (gone) return false;
    received += bytes;
    writes.emplace_back(bytes);
    return static_cast<int>(writes.size()) < accept_writes;
  }
  [[nodiscard]] bool client_gone() override {
    ++polls;
    if (on_poll) on_poll(polls);
    return gone;
  }

  std::function<void(int)> on_poll;
  bool gone = false;
  int accept_writes = 1 << 30;
  int polls = 0;
  std::string received;
  std::vector<std::string> writes;
};

// A transcript that is kept as a file, src/api/golden/NAME.
inline std::string golden(const std::string& name) {
  std::ifstream file(std::string(SAMOVAR_SOURCE) + "/src/api/golden/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The payloads of the `data:` events, in order.
inline std::vector<std::string> sse_data(const std::string& body) {
  std::vector<std::string> data;
  std::size_t at = 0;
  for (std::size_t end; (end = body.find("\n\n", at)) != std::string::npos; at = end + 2) {
    const std::string event = body.substr(at, end - at);
    if (event.starts_with("data: ")) data.push_back(event.substr(6));
  }
  return data;
}

inline TurnTimings sample_timings() {
  TurnTimings timings;
  timings.render = 1500;
  timings.queue = 250;
  timings.plan = 20;
  timings.restore = 3000;
  timings.prefill = 500'000;
  timings.first_token = 510'000;
  timings.decode = 2'000'000;
  timings.prompt_tokens = 1000;
  timings.reused_tokens = 900;
  timings.computed_tokens = 100;
  timings.reply_tokens = 41;
  timings.matched_tokens = 920;
  timings.source = ReuseSource::anchor;
  return timings;
}

}  // namespace samovar::test
