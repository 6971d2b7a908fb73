// The proof that a template's conversations may be spliced: conversations with everything that
// templates are known to look at from afar.
#include <algorithm>
#include <array>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "chat/template_inputs.h"
#include "chat/template_source.h"
#include "chat/template_splice.h"

namespace samovar {
namespace {

constexpr unsigned kSeed = 20261130;

// What happens between a question and the next: p a plain reply, l a short tool loop and a reply,
// L a longer one, i a tool loop that the user interrupts.
struct Course {
  std::string_view exchanges;
  bool system;
  bool tools;
  bool thinking;
  bool parallel_calls;  // some templates refuse them
};

constexpr std::array kCourses = {
    Course{"plpLp", true, true, true, false},
    Course{"lppl", false, true, false, true},
    Course{"piLp", false, true, true, true},
    Course{"plpp", true, false, true, false},
};

unsigned rounds_of(char exchange) {
  switch (exchange) {
    case 'l':
      return 1;
    case 'i':
      return 2;
    case 'L':
      return 3;
    default:
      return 0;
  }
}

// One conversation with every request its client makes on the way.
struct Probe {
  common_chat_templates_inputs inputs;  // without messages
  std::vector<common_chat_msg> messages;
  std::vector<std::size_t> requests;  // how many messages each has
};

class ProbeMaker {
 public:
  Probe make(const Course& course) {
    Probe probe;
    probe.inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    probe.inputs.enable_thinking = course.thinking;
    if (course.tools) {
      probe.inputs.tools = {
          {"look", "Looks.", R"({"type":"object","properties":{"at":{"type":"string"}}})"},
          {"wait", "Waits.", R"({"type":"object","properties":{"n":{"type":"integer"}}})"}};
    }
    if (course.system) add(probe, "system", text());
    for (const char exchange : course.exchanges) {
      ask(probe);
      for (unsigned rounds = rounds_of(exchange); rounds > 0; --rounds) {
        add_call(probe, course.parallel_calls ? 1 + below(2) : 1);
      }
      if (exchange == 'i') continue;
      add(probe, "assistant", below(5) == 0 ? "<think>x</think>" + text() : text());
      if (below(3) > 0) probe.messages.back().reasoning_content = text();
    }
    ask(probe);
    return probe;
  }

  unsigned below(std::size_t end) { return static_cast<unsigned>(random_() % end); }

  std::string text() {
    static constexpr std::array kPieces = {"word",     " ", "\n",   "{\"a\": 1}", "<b>",
                                           "\xC3\xA9", ".", "  in", "\n\n"};
    std::string result = std::to_string(below(1000));
    for (unsigned count = below(5); count > 0; --count) result += kPieces[below(kPieces.size())];
    return result;
  }

 private:
  static void add(Probe& probe, const char* role, std::string content) {
    common_chat_msg& message = probe.messages.emplace_back();
    message.role = role;
    message.content = std::move(content);
  }

  void ask(Probe& probe) {
    add(probe, "user", text());
    probe.requests.push_back(probe.messages.size());
  }

  void add_call(Probe& probe, unsigned calls) {
    add(probe, "assistant", below(2) == 0 ? text() : "");
    if (below(3) > 0) probe.messages.back().reasoning_content = text();
    probe.messages.back().tool_calls.push_back({"look", R"({"at": "x y"})", "call00001"});
    if (calls > 1) probe.messages.back().tool_calls.push_back({"wait", R"({"n":3})", "call00002"});
    for (unsigned call = 0; call < calls; ++call) {
      add(probe, "tool", below(3) == 0 ? R"({"seen": [1]})" : text());
      probe.messages.back().tool_call_id = call == 0 ? "call00001" : "call00002";
      probe.messages.back().tool_name = call == 0 ? "look" : "wait";
    }
    probe.requests.push_back(probe.messages.size());
  }

  std::mt19937 random_{kSeed};
};

// Two requests of one conversation, both rendered as a whole.
struct Pair {
  RenderedConversation earlier;
  common_chat_templates_inputs wanted;
  std::string text;
  std::size_t shared;
};

class PairMaker {
 public:
  explicit PairMaker(const DirectTemplate& direct) : direct_(direct) {}

  std::vector<Pair> make() {
    for (const Course& course : kCourses) add_course(maker_.make(course));
    return std::move(pairs_);
  }

 private:
  void add_course(const Probe& probe) {
    std::vector<RenderedConversation> rendered;
    for (const std::size_t request : probe.requests) {
      auto conversation = render(probe, first_messages(probe, request));
      if (conversation) rendered.push_back(std::move(*conversation));
    }
    for (std::size_t i = 1; i < rendered.size(); ++i) {
      add(probe, rendered[i - 1], rendered[i]);
      if (maker_.below(4) == 0) add(probe, rendered.back(), rendered[i]);  // generated once more
      if (maker_.below(4) != 0) continue;
      auto edited = rendered[i].messages;
      edited.back().content += maker_.text();
      const auto conversation = render(probe, std::move(edited));
      if (conversation) add(probe, rendered[i], *conversation);
    }
  }

  static std::vector<common_chat_msg> first_messages(const Probe& probe, std::size_t count) {
    const auto begin = probe.messages.begin();
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  std::optional<RenderedConversation> render(const Probe& probe,
                                             std::vector<common_chat_msg> messages) const {
    auto inputs = with_messages(probe.inputs, std::move(messages));
    try {
      RenderedConversation rendered;
      rendered.text = direct_.render(inputs);
      rendered.messages = std::move(inputs.messages);
      return rendered;
    } catch (const std::exception&) {
      return std::nullopt;  // the template refuses the conversation
    }
  }

  void add(const Probe& probe, const RenderedConversation& earlier,
           const RenderedConversation& wanted) {
    const auto differ = std::ranges::mismatch(earlier.messages, wanted.messages);
    const auto shared = static_cast<std::size_t>(differ.in1 - earlier.messages.begin());
    pairs_.push_back({earlier, with_messages(probe.inputs, wanted.messages), wanted.text, shared});
  }

  const DirectTemplate& direct_;
  ProbeMaker maker_;
  std::vector<Pair> pairs_;
};

// True if no pair comes out different and most of those with a cut can be spliced.
bool holds(const DirectTemplate& direct, const std::vector<Pair>& pairs, const SpliceRules& rules) {
  std::array<int, 2> cuts{};  // by Cut::in_loop
  std::array<int, 2> spliced{};
  for (const Pair& pair : pairs) {
    const auto cut = find_cut(pair.earlier.messages, pair.wanted.messages, pair.shared, rules);
    if (!cut) continue;
    const std::size_t kind = cut->in_loop ? 1 : 0;
    ++cuts[kind];
    try {
      const auto result = splice(direct, pair.earlier, pair.wanted, *cut);
      if (!result) continue;
      if (result->text != pair.text) return false;
      ++spliced[kind];
    } catch (const std::exception&) {
      continue;  // rendered as a whole instead
    }
  }
  const auto most = [&](std::size_t kind) {
    return spliced[kind] > 0 && spliced[kind] * 2 > cuts[kind];
  };
  return (!rules.at_question || most(0)) && (!rules.in_loop || most(1));
}

SpliceRules find_rules(const DirectTemplate& direct, const std::vector<Pair>& pairs) {
  const SpliceRules all = {.at_question = CutRule{}, .in_loop = CutRule{}};
  if (holds(direct, pairs, all)) return all;
  SpliceRules found;
  for (const CutRule rule : {CutRule{}, CutRule{.own_tools = true}, CutRule{.reply_follows = true},
                             CutRule{.own_tools = true, .reply_follows = true}}) {
    if (!found.at_question && holds(direct, pairs, {.at_question = rule})) found.at_question = rule;
    if (!found.in_loop && !rule.reply_follows && holds(direct, pairs, {.in_loop = rule})) {
      found.in_loop = rule;
    }
  }
  return found;
}

}  // namespace

SpliceRules find_splice_rules(const DirectTemplate& direct) {
  for (;;) {
    const std::string date = local_date();
    const std::vector<Pair> pairs = PairMaker(direct).make();
    const SpliceRules rules = find_rules(direct, pairs);
    if (date == local_date()) return rules;  // else the date in a text may differ
  }
}

}  // namespace samovar
