// The way back: from the lines of a transcript to a history.
#include <nlohmann/json.hpp>

#include "client/transcript.h"

namespace samovar::client {
namespace {

using Json = nlohmann::json;

std::string string_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> count_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

void add(std::optional<std::int64_t>& total, const Json& json, const char* name) {
  if (const auto count = count_in(json, name)) total = total.value_or(0) + *count;
}

class Loader {
 public:
  void line(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    const std::string kind = json.is_object() ? string_in(json, "kind") : "";
    if (kind.empty()) {
      ++chat_.damaged;
    } else if (kind == "chat") {
      setup(json);
    } else if (kind == "system") {
      chat_.history.system = string_in(json, "content");
    } else if (kind == "user") {
      user(json);
    } else if (kind == "piece") {
      piece(json);
    } else if (kind == "end") {
      end(json);
    } else if (kind == "back") {
      back(json);
    }  // other kinds are a later version's
  }

  LoadedChat finish() {
    chat_.open_reply = chat_.open_reply || chat_.history.pending();
    return std::move(chat_);
  }

 private:
  void setup(const Json& json) {
    chat_.setup.model = string_in(json, "model");
    chat_.setup.url = string_in(json, "url");
    const auto thinking = json.find("thinking");
    chat_.setup.thinking.reset();
    if (thinking != json.end() && thinking->is_boolean()) {
      chat_.setup.thinking = thinking->get<bool>();
    }
  }

  void user(const Json& json) {
    Message message;
    message.user = true;
    message.content = string_in(json, "content");
    if (chat_.title.empty()) chat_.title = message.content;
    chat_.history.messages.push_back(std::move(message));
    chat_.open_reply = false;
  }

  // The reply to the last message, begun if need be.
  Message& reply() {
    if (!chat_.open_reply) {
      Message begun;
      begun.cut = true;  // until its end is known
      chat_.history.messages.push_back(std::move(begun));
      chat_.open_reply = true;
      ++chat_.turns;
    }
    return chat_.history.messages.back();
  }

  void piece(const Json& json) {
    Message& message = reply();
    message.reasoning += string_in(json, "reasoning_content");
    message.content += string_in(json, "content");
  }

  void end(const Json& json) {
    const std::string how = string_in(json, "reply");
    // A failed turn without a piece has no reply; a cut or complete one has an empty one.
    if (how != "failed") reply();
    if (chat_.open_reply) chat_.history.messages.back().cut = how != "complete";
    chat_.open_reply = false;
    chat_.last_turn = string_in(json, "turn");
    add(chat_.totals.prompt_tokens, json, "prompt_tokens");
    add(chat_.totals.reused_tokens, json, "reused_tokens");
    add(chat_.totals.computed_tokens, json, "computed_tokens");
    add(chat_.totals.reply_tokens, json, "reply_tokens");
  }

  void back(const Json& json) {
    const auto count = count_in(json, "messages");
    auto& messages = chat_.history.messages;
    if (count && *count >= 0 && static_cast<std::size_t>(*count) < messages.size()) {
      messages.resize(static_cast<std::size_t>(*count));
    }
    chat_.open_reply = false;
  }

  LoadedChat chat_;
};

}  // namespace

bool LoadedChat::was_with_other_than(std::string_view model) const {
  return setup != ChatSetup() && setup.model != model;
}

LoadedChat load_transcript(std::string_view bytes) {
  Loader loader;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    if (!line.empty()) loader.line(line);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  return loader.finish();
}

}  // namespace samovar::client
