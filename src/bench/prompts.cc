#include "bench/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

namespace samovar::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kWords = {
    "the",    "server", "keeps",  "a",      "file",   "warm",  "and",    "reads",  "every",
    "line",   "of",     "code",   "until",  "tests",  "pass",  "again",  "with",   "fewer",
    "tokens", "than",   "before", "while",  "others", "wait",  "for",    "their",  "turn",
    "in",     "quiet",  "rooms",  "where",  "tea",    "is",    "made",   "slowly", "from",
    "leaves", "that",   "grew",   "beside", "rivers", "under", "clouds", "which",  "carry",
    "rain",   "to",     "fields", "after",  "long",   "dry",   "weeks",  "or",     "snow",
    "when",   "winter", "comes",  "early",  "over",   "hills", "near",   "old",    "towns",
    "whose",  "roads",  "lead",   "down",   "past"};

// Not the library's distributions: their results differ between libraries.
class Chooser {
 public:
  explicit Chooser(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  std::mt19937_64 random_;
};

// Fields that are no part of OpenAI's API, or not of every server's.
constexpr std::array kOptional = {"ignore_eos", "chat_template_kwargs", "stream_options"};

}  // namespace

std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::uint64_t value = seed;
  for (const std::uint64_t part : {a, b}) {  // splitmix64's finaliser
    value += part + 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    value ^= value >> 31U;
  }
  return value;
}

std::string prose(std::int64_t count, std::uint64_t seed) {
  Chooser choose(seed);
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += kWords[choose.below(kWords.size())];
    if (choose.below(8) == 0) text += fmt::format("{}", choose.below(1000));
  }
  return text;
}

std::vector<Message> make_history(std::int64_t tokens, std::int64_t message_tokens,
                                  std::uint64_t seed, const WordCost& cost) {
  std::vector<Message> messages;
  double left = static_cast<double>(tokens) - cost.tokens_per_message;  // the primer of the reply
  const auto words_for = [&](double size) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>((size - cost.tokens_per_message) / cost.tokens_per_word));
  };
  const auto size = static_cast<double>(std::max<std::int64_t>(message_tokens, 16));
  for (std::uint64_t index = 0;; ++index) {
    // The last one takes what is left, and must be the user's.
    const bool user = index % 2 == 1;
    const bool last = user && left < size * 3;
    const std::string begin = index == 0 ? fmt::format("Run {:016x}. ", seed) : "";
    const double own = last ? left : std::min(size, left / 2);
    const double begin_tokens = index == 0 ? 12 : 0;
    messages.push_back({index == 0 ? "system" : (user ? "user" : "assistant"),
                        begin + prose(words_for(own - begin_tokens), mix_seed(seed, index, 1))});
    left -= own;
    if (last) return messages;
  }
}

std::string chat_body(const std::vector<Message>& messages, const BodySettings& settings) {
  Json body = Json::object();
  if (!settings.model.empty()) body["model"] = settings.model;
  Json list = Json::array();
  for (const Message& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  body["messages"] = std::move(list);
  body["max_tokens"] = settings.max_tokens;
  body["temperature"] = 0;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (settings.ignore_eos) body["ignore_eos"] = true;
  body["chat_template_kwargs"] = {{"enable_thinking", false}};
  if (!settings.extra.empty()) {
    const Json extra = Json::parse(settings.extra, nullptr, false);
    if (extra.is_object()) body.update(extra);
  }
  for (const std::string& name : settings.left_out) body.erase(name);
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> refused_field(int status, const std::string& error,
                                         const BodySettings& settings) {
  if (status != 400 && status != 422) return std::nullopt;
  for (const char* name : kOptional) {
    if (!settings.left_out.contains(name) && error.find(name) != std::string::npos) return name;
  }
  return std::nullopt;
}

}  // namespace samovar::bench
