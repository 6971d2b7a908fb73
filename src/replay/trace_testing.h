// A trace of any shape the format allows, by chance, for property tests: every field is sometimes
// there and sometimes not, texts have quotes, newlines and other scripts.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

#include "replay/distributions.h"
#include "replay/histories.h"
#include "replay/trace.h"

namespace samovar::replay {

class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed) : random_(seed) {}

  Trace make(int turns) {
    Trace trace;
    trace.header = {.made_by = text(), .model = text(), .created = number(2'000'000'000)};
    for (int i = 0; i < turns; ++i) add(trace, i);
    return trace;
  }

 private:
  std::int64_t number(std::uint64_t below) { return static_cast<std::int64_t>(random_() % below); }
  bool chance(int of) { return random_() % static_cast<std::uint64_t>(of) == 0; }

  std::string text() {
    static constexpr const char* kParts[] = {"word ", "\"",     "\\", "\n",   "\t",   "é",   "漢字",
                                             "{}",    "secret", "  ", "\x01", "0123", "</s>"};
    std::string out;
    for (std::int64_t i = number(6); i > 0; --i) out += kParts[random_() % std::size(kParts)];
    return out;
  }

  ChatMessage message(Role role) {
    ChatMessage message{.role = role, .content = text()};
    if (role == Role::tool) {
      message.tool_call_id = "c" + std::to_string(number(9));
      if (chance(2)) message.name = "f";
    }
    if (role != Role::assistant) return message;
    if (chance(2)) message.reasoning = text();
    for (std::int64_t i = number(3); i > 0; --i) {
      message.tool_calls.push_back({"c" + std::to_string(number(9)), "f" + text(), text()});
    }
    return message;
  }

  TraceSettings settings() {
    TraceSettings settings;
    if (chance(2)) settings.temperature = 0.25 * static_cast<double>(number(8));
    if (chance(3)) settings.top_k = number(100);
    if (chance(2)) settings.max_tokens = number(1000);
    if (chance(3)) settings.seed = number(1000) - 500;
    if (chance(3)) settings.stop = {"a" + text(), "b"};
    if (chance(3)) settings.enable_thinking = chance(2);
    if (chance(3)) settings.template_arguments["effort"] = R"("low")";
    if (chance(4)) settings.tool_choice = ToolChoice::required;
    if (chance(8)) settings.tool_choice = ToolChoice::none;
    if (settings.tool_choice == ToolChoice::required && chance(2)) settings.tool_choice_name = "f";
    if (chance(4)) settings.parallel_tool_calls = false;
    if (chance(5)) {
      settings.response_format = {ResponseFormat::Kind::json_schema, R"({"type":"object"})"};
    }
    return settings;
  }

  void add(Trace& trace, int i) {
    TraceTurn turn;
    turn.id = fmt::format("t{}", i);
    turn.session = text();
    turn.at_ms = number(1'000'000);
    turn.streamed = !chance(3);
    if (i > 0 && !chance(4)) {
      const TraceTurn& before =
          trace.turns[static_cast<std::size_t>(number(static_cast<std::uint64_t>(i)))];
      turn.after = before.id;
      turn.wait = chance(2) ? WaitKind::think : WaitKind::tool;
      turn.wait_ms = number(100'000);
      const std::size_t all = Histories(trace).count(Histories(trace).index(before.id));
      turn.keep = chance(3) ? static_cast<std::size_t>(number(all + 1)) : all;
      if (turn.keep == all && chance(2)) turn.returned = Returned::whole;
      if (turn.keep == all && chance(4)) turn.returned = Returned::without_reasoning;
    } else if (i > 0 && chance(2)) {
      turn.parent = trace.turns[static_cast<std::size_t>(i) - 1].id;
      turn.agent = "helper";
      turn.wait = WaitKind::agent;
    }
    if (i > 1 && chance(4)) turn.joins = {"t0"};
    static constexpr Role kRoles[] = {Role::user, Role::tool, Role::assistant, Role::system,
                                      Role::developer};
    for (std::int64_t n = 1 + number(3); n > 0; --n) {
      turn.messages.push_back(message(kRoles[random_() % std::size(kRoles)]));
    }
    if (turn.after.empty() || chance(4)) {
      turn.tools.emplace();
      for (std::int64_t n = number(3); n > 0; --n) {
        turn.tools->push_back({"f" + text(), text(), R"({"type":"object","properties":{}})"});
      }
    }
    if (turn.after.empty() || chance(4)) turn.settings = settings();
    if (!chance(5)) {
      turn.reply = TraceReply{.message = message(Role::assistant), .finish = "stop", .tokens = {}};
      turn.reply->cut = chance(4);
      if (chance(2)) turn.reply->tokens = number(500);
    }
    if (chance(2)) turn.figures = {.prompt = number(9000), .reused = number(9000)};
    if (chance(3)) turn.figures.prefill_ms = 0.5 * static_cast<double>(number(999));
    if (chance(3)) turn.figures.miss = "rewound";
    trace.turns.push_back(std::move(turn));
  }

  std::mt19937_64 random_;
};

}  // namespace samovar::replay
