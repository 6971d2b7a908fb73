#include "tests/scripted/script.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace samovar::testing {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kOpen = "<|im_start|>";
constexpr std::string_view kClose = "<|im_end|>";
constexpr std::string_view kThink = "<think>\n";
constexpr std::string_view kThought = "</think>\n\n";
constexpr std::string_view kResult = "<tool_response>";

bool contains(std::string_view text, const std::optional<std::string>& part) {
  return !part || text.find(*part) != std::string_view::npos;
}

template <class T>
std::optional<T> take(const Json& rule, const char* name) {
  return rule.contains(name) ? std::optional(rule.at(name).get<T>()) : std::nullopt;
}

std::string_view shortened(std::string_view text) { return text.substr(0, 300); }

}  // namespace

// A prompt, seen as the messages it was rendered from.
struct Script::Dialogue {
  std::string_view system;
  std::string_view user;
  std::string_view last;
  std::string_view said;  // what stands where the reply begins: the primer, or a part of the reply
  bool tool = false;
  int step = 0;
  int replies = 0;

  explicit Dialogue(std::string_view prompt) {
    std::size_t at = prompt.find(kOpen);
    while (at != std::string_view::npos) {
      const std::size_t begin = at + kOpen.size();
      at = prompt.find(kOpen, begin);
      const std::string_view message = prompt.substr(begin, at == prompt.npos ? at : at - begin);
      const std::size_t line = message.find('\n');
      const std::string_view text = line == message.npos ? "" : message.substr(line + 1);
      if (at == std::string_view::npos && message.find(kClose) == message.npos) {
        said = text;
      } else {
        add(message.substr(0, line), text.substr(0, text.rfind(kClose)));
      }
    }
  }

  void add(std::string_view role, std::string_view text) {
    if (role == "system") {
      system = text;
    } else if (role == "assistant") {
      ++step;
      ++replies;
    } else {
      last = text;
      tool = text.starts_with(kResult);
      if (!tool) {
        user = text;
        step = 0;
      }
    }
  }
};

bool Script::fits(const Rule& rule, const Dialogue& dialogue) {
  return contains(dialogue.system, rule.system) && contains(dialogue.user, rule.user) &&
         contains(dialogue.last, rule.last) && contains(dialogue.last, rule.reply_after) &&
         rule.tool.value_or(dialogue.tool) == dialogue.tool &&
         rule.step.value_or(dialogue.step) == dialogue.step &&
         rule.replies.value_or(dialogue.replies) == dialogue.replies;
}

Result<Script> Script::parse(std::string_view json) {
  try {
    Script script;
    const Json file = Json::parse(json);
    for (const Json& rule : file.at("rules")) {
      script.rules_.push_back({.system = take<std::string>(rule, "system"),
                               .user = take<std::string>(rule, "user"),
                               .last = take<std::string>(rule, "last"),
                               .tool = take<bool>(rule, "tool"),
                               .step = take<int>(rule, "step"),
                               .replies = take<int>(rule, "replies"),
                               .reply = take<std::string>(rule, "reply"),
                               .reply_after = take<std::string>(rule, "reply_after")});
      if (script.rules_.back().reply.has_value() == script.rules_.back().reply_after.has_value()) {
        return fail(ErrorKind::invalid_argument,
                    "a rule has either `reply` or `reply_after`: " + rule.dump());
      }
    }
    return script;
  } catch (const Json::exception& error) {
    return fail(ErrorKind::invalid_argument, std::string("the script is wrong: ") + error.what());
  }
}

Result<Script> Script::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorKind::invalid_argument, "the script " + path + " cannot be read");
  return parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

Result<std::string> Script::reply_to(std::string_view prompt) const {
  const Dialogue dialogue(prompt);
  for (const Rule& rule : rules_) {
    if (!fits(rule, dialogue)) continue;
    std::string reply;
    if (rule.reply) {
      reply = *rule.reply;
    } else {
      const std::size_t at = dialogue.last.find(*rule.reply_after) + rule.reply_after->size();
      reply = dialogue.last.substr(at);
    }
    std::string_view said = dialogue.said;
    if (!said.starts_with(kThink)) return reply;
    said.remove_prefix(kThink.size());
    if (reply.starts_with(said)) return reply.substr(said.size());
    const std::size_t thought = reply.find(kThought);
    return thought == std::string::npos ? reply : reply.substr(thought + kThought.size());
  }
  return fail(ErrorKind::not_found,
              "the script has no rule for the message: " + std::string(shortened(dialogue.last)));
}

}  // namespace samovar::testing
