#include "replay/redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "replay/pseudo_text.h"
#include "replay/text_pieces.h"

namespace samovar::replay {
namespace {

constexpr std::size_t kNameWordsMin = 2;  // so that two names of a schema stay two
constexpr std::size_t kNameWordsMax = 6;

void put(Sha256Hasher& hasher, std::string_view text) {
  hasher.update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// A word of ours or of a protocol, not of a user.
std::string plain_word(const std::string& word) {
  const bool plain = word.size() <= 24 && std::ranges::all_of(word, [](char byte) {
                       return (byte >= 'a' && byte <= 'z') || byte == '_' || byte == '.';
                     });
  return plain ? word : "";
}

// A value of a template's argument that says nothing of a user.
bool says_nothing(const std::string& json) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "true", "false", "null", R"("low")", R"("medium")", R"("high")", R"("none")", R"("minimal")"};
  return std::ranges::find(kWords, json) != kWords.end();
}

}  // namespace

std::vector<std::uint64_t> Redactor::numbers(std::string_view text, std::size_t count) const {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t block = 0; numbers.size() < count; ++block) {
    Sha256Hasher hasher;
    put(hasher, options_.key);
    put(hasher, fmt::format("/{}/{}/", options_.key.size(), block));
    put(hasher, text);
    const Sha256 digest = hasher.digest();
    for (std::size_t at = 0; at < digest.size() && numbers.size() < count; at += 8) {
      std::uint64_t number = 0;
      std::memcpy(&number, digest.data() + at, sizeof number);
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::string Redactor::text(std::string_view text) const {
  std::string out;
  bool newline = false;
  std::string before(sizeof(std::uint64_t), '\0');  // stands for all that was read
  for (const TextPiece& piece : text_pieces(text)) {
    newline = newline || piece.kind == TextPiece::Kind::newline;
    before += piece.text;
    const std::size_t tokens = piece.tokens();
    if (tokens == 0) continue;  // it is hashed with the next one
    const auto drawn = numbers(before, tokens + 1);
    for (std::size_t i = 0; i < tokens; ++i) {
      if (!out.empty()) out += newline ? '\n' : ' ';
      newline = false;
      out += pseudo_word(drawn[i]);
    }
    before.assign(reinterpret_cast<const char*>(&drawn[tokens]), sizeof drawn[tokens]);
  }
  if (out.empty() && !text.empty()) return "\n";  // nothing but white space
  return out;
}

std::string Redactor::name(std::string_view name) const {
  if (name.empty() || options_.keep_names) return std::string(name);
  std::string out;
  const std::size_t words = std::clamp(estimate_tokens(name), kNameWordsMin, kNameWordsMax);
  for (const std::uint64_t number : numbers(name, words)) {
    out += (out.empty() ? "" : "_") + pseudo_word(number);
  }
  return out;
}

std::string Redactor::id(std::string_view prefix, const std::string& id) const {
  if (id.empty()) return {};
  return fmt::format("{}-{:016x}", prefix, numbers(id, 1).front());
}

ChatMessage Redactor::message(ChatMessage message) const {
  message.content = text(message.content);
  message.reasoning = text(message.reasoning);
  message.tool_call_id = id("call", message.tool_call_id);
  message.name = name(message.name);
  for (ToolCall& call : message.tool_calls) {
    call.id = id("call", call.id);
    call.name = name(call.name);
    call.arguments = arguments(call.arguments);
  }
  return message;
}

TraceSettings Redactor::settings(TraceSettings settings) const {
  for (std::string& stop : settings.stop) stop = text(stop);
  settings.tool_choice_name = name(settings.tool_choice_name);
  if (!settings.response_format.schema.empty()) {
    settings.response_format.schema = schema(settings.response_format.schema);
  }
  std::erase_if(settings.template_arguments, [](const auto& argument) {
    const auto& [key, value] = argument;
    return !says_nothing(value) || plain_word(key).empty();
  });
  return settings;
}

TraceTurn Redactor::turn(TraceTurn turn) const {
  turn.id = id("turn", turn.id);
  turn.session = id("session", turn.session);
  turn.after = id("turn", turn.after);
  turn.parent = id("turn", turn.parent);
  for (std::string& joined : turn.joins) joined = id("turn", joined);
  turn.agent = name(turn.agent);
  turn.dialect = plain_word(turn.dialect);
  for (ChatMessage& each : turn.messages) each = message(std::move(each));
  if (turn.tools) {
    for (Tool& tool : *turn.tools) {
      tool = {name(tool.name), text(tool.description), schema(tool.parameters)};
    }
  }
  if (turn.settings) turn.settings = settings(std::move(*turn.settings));
  if (turn.reply) {
    turn.reply->message = message(std::move(turn.reply->message));
    turn.reply->finish = plain_word(turn.reply->finish);
  }
  turn.figures.miss = plain_word(turn.figures.miss);
  return turn;
}

Trace Redactor::trace(Trace trace) const {
  for (TraceTurn& each : trace.turns) each = turn(std::move(each));
  trace.header.made_by = "samovar trace redact";
  trace.header.model = name(trace.header.model);
  trace.header.redacted = true;
  return trace;
}

}  // namespace samovar::replay
