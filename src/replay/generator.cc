#include "replay/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "replay/distributions.h"
#include "replay/pseudo_text.h"

namespace samovar::replay {
namespace {

constexpr double kMillisecondsInASecond = 1000;
constexpr int kTools = 12;
constexpr double kCallsAReply = 1.21;  // TraceLab: 432,510 calls in 357,161 rounds
constexpr double kAgentTurns = 6;      // requests of a sub-agent: an assumption
constexpr double kStartPart = 0.4;     // of a sub-agent's system prompt and tools to its parent's
constexpr std::int64_t kReplyTokensMin = 8;

std::vector<Tool> make_tools(std::size_t tokens, std::mt19937_64& random) {
  std::vector<Tool> tools;
  tools.reserve(kTools);
  for (int i = 0; i < kTools; ++i) {
    tools.push_back({.name = fmt::format("tool_{}", i),
                     .description = pseudo_text(std::max<std::size_t>(1, tokens / kTools), random),
                     .parameters = R"({"type":"object","properties":{"path":{"type":"string"},)"
                                   R"("count":{"type":"integer"}},"required":["path"]})"});
  }
  return tools;
}

// Makes the turns of one session and of its sub-agents.
class SessionMaker {
 public:
  SessionMaker(const GeneratorOptions& options, int number, std::mt19937_64 random,
               std::vector<TraceTurn>& turns)
      : options_(options), random_(random), turns_(turns), name_(fmt::format("s{}", number)) {}

  void make(const std::string& system, const std::vector<Tool>& tools) {
    const double begins = uniform(random_) * options_.arrivals_s * kMillisecondsInASecond;
    at_ms_ = static_cast<std::int64_t>(begins);
    begin(system, tools, "");
    const double people = 1 / (1 + options_.tools_per_user);
    for (int made = 1; made < options_.turns;) {
      const int loop = geometric(random_, options_.tools_per_user);
      for (int i = 0; i < loop && made < options_.turns; ++i, ++made) tool_turn(people);
      if (made++ < options_.turns) user_turn(people);
    }
    if (!turns_.empty()) end_in_words(turns_[last_]);
  }

 private:
  [[nodiscard]] std::size_t scaled(double tokens) const {
    return static_cast<std::size_t>(std::max(1.0, std::round(tokens * options_.scale)));
  }

  TraceTurn next() {
    TraceTurn turn;
    turn.id = fmt::format("{}-{}", name_, ++made_);
    turn.session = name_;
    turn.dialect = "chat.completions";
    return turn;
  }

  void begin(const std::string& system, const std::vector<Tool>& tools, const std::string& parent) {
    TraceTurn turn = next();
    turn.parent = parent;
    if (!parent.empty()) {
      turn.agent = "helper";
      turn.wait = WaitKind::agent;
    }
    ChatMessage user = user_message();
    context_ = estimate_tokens(system) + estimate_tokens(user.content) + scaled(600);
    turn.messages = {{.role = Role::system, .content = system}, std::move(user)};
    turn.tools = tools;
    add(std::move(turn));
  }

  ChatMessage user_message() {
    const double tokens = at_part(user_tokens(), uniform(random_));
    return {.role = Role::user, .content = pseudo_text(scaled(tokens), random_)};
  }

  // Results of what the reply before called; the appended tokens are shared among them.
  void tool_turn(double people) {
    TraceTurn turn = next();
    TraceTurn& before = turns_[last_];
    if (before.reply->message.tool_calls.empty()) call_tools(*before.reply);
    const std::vector<ToolCall> calls = before.reply->message.tool_calls;
    const double appended = at_part(appended_tokens(), uniform(random_));
    for (const ToolCall& call : calls) {
      const double part = appended / static_cast<double>(calls.size());
      turn.messages.push_back({.role = Role::tool,
                               .content = pseudo_text(scaled(part), random_),
                               .tool_call_id = call.id,
                               .name = call.name});
    }
    turn.wait = WaitKind::tool;
    turn.wait_ms = pause(false, people);
    if (may_start_agents_ && uniform(random_) < options_.agents) start_agent(turn);
    context_ += scaled(appended);
    follow(std::move(turn));
  }

  void user_turn(double people) {
    TraceTurn turn = next();
    TraceTurn& before = turns_[last_];
    end_in_words(before);
    if (uniform(random_) < options_.cuts) cut(*before.reply);
    turn.messages = {user_message()};
    turn.wait = WaitKind::think;
    turn.wait_ms = pause(true, people);
    context_ += estimate_tokens(turn.messages.front().content);
    follow(std::move(turn));
  }

  // A sub-agent works until the turn's request is made. It is made up before that turn, which
  // waits for its last one.
  void start_agent(TraceTurn& turn) {
    SessionMaker agent(options_, 0, std::mt19937_64(random_()), turns_);
    agent.name_ = turn.id + "-agent";
    agent.may_start_agents_ = false;
    agent.at_ms_ = at_ms_;
    std::mt19937_64 words(random_());
    const double start = options_.start_tokens * kStartPart;
    const std::string parent = turns_[last_].id;
    agent.begin(pseudo_text(scaled(start / 2), words), make_tools(scaled(start / 2), words),
                parent);
    const int loop = geometric(random_, kAgentTurns);
    for (int i = 0; i < loop; ++i) agent.tool_turn(0);
    agent.end_in_words(turns_[agent.last_]);
    turn.agent = "";
    turn.joins = {turns_[agent.last_].id};
    at_ms_ = std::max(at_ms_, agent.at_ms_);
  }

  void follow(TraceTurn turn) {
    const TraceTurn& before = turns_[last_];
    turn.after = before.id;
    turn.keep = messages_;
    turn.returned = Returned::whole;
    const bool user_asks = turn.messages.front().role == Role::user;
    if (user_asks && context_ > scaled(options_.context)) {
      // The history is compacted: the system prompt, then what there was in short.
      ChatMessage summary = user_message();
      summary.content = pseudo_text(scaled(1'500), random_) + "\n" + turn.messages[0].content;
      turn.messages = {std::move(summary)};
      turn.keep = 1;
      turn.returned = Returned::no;
      context_ = scaled(options_.start_tokens);
    }
    at_ms_ += turn.wait_ms;
    add(std::move(turn));
  }

  void add(TraceTurn turn) {
    turn.at_ms = at_ms_;
    const double drawn = at_part(reply_tokens(), uniform(random_));
    const std::size_t tokens = std::max<std::size_t>(kReplyTokensMin, scaled(drawn));
    TraceSettings settings;
    settings.temperature = 0;
    settings.seed = 1;
    settings.max_tokens = static_cast<std::int64_t>(tokens);
    turn.settings = settings;
    TraceReply reply;
    reply.message.content = pseudo_text(tokens, random_);
    reply.finish = "stop";
    reply.tokens = static_cast<std::int64_t>(tokens);
    turn.reply = std::move(reply);
    messages_ = turn.keep + (turn.returned == Returned::no ? 0 : 1) + turn.messages.size();
    context_ += tokens;
    last_ = turns_.size();
    turns_.push_back(std::move(turn));
  }

  void call_tools(TraceReply& reply) {
    const int calls = geometric(random_, kCallsAReply);
    for (int i = 0; i < calls; ++i) {
      reply.message.tool_calls.push_back(
          {.id = fmt::format("call_{}_{}_{}", name_, made_, i),
           .name = fmt::format("tool_{}", random_() % kTools),
           .arguments = fmt::format(R"({{"path":"{}","count":{}}})", pseudo_word(random_()),
                                    random_() % 100)});
    }
    reply.finish = "tool_calls";
  }

  static void end_in_words(TraceTurn& turn) {
    turn.reply->message.tool_calls.clear();
    turn.reply->finish = "stop";
  }

  void cut(TraceReply& reply) {
    reply.cut = true;
    reply.finish.clear();
    const auto kept = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(uniform(random_) * static_cast<double>(*reply.tokens)));
    reply.tokens = kept;
    // Words are four bytes each, with what stands between them.
    reply.message.content.resize(
        std::min(reply.message.content.size(), static_cast<std::size_t>(kept) * 4 - 1));
  }

  std::int64_t pause(bool person, double people) {
    const double seconds = at_part(gap_seconds(), gap_part(random_, person, people));
    return static_cast<std::int64_t>(seconds * kMillisecondsInASecond);
  }

  const GeneratorOptions& options_;
  std::mt19937_64 random_;
  std::vector<TraceTurn>& turns_;
  std::string name_;
  bool may_start_agents_ = true;
  int made_ = 0;
  std::size_t last_ = 0;      // index of this session's newest turn
  std::size_t messages_ = 0;  // of its request
  std::size_t context_ = 0;   // tokens, about
  std::int64_t at_ms_ = 0;
};

Status check(const GeneratorOptions& o) {
  const auto bad = [](const char* flag, const char* range) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} must be {}", flag, range), flag);
  };
  if (o.sessions < 1 || o.sessions > 10'000) return bad("--sessions", "1 to 10000");
  if (o.turns < 1 || o.turns > 10'000) return bad("--turns", "1 to 10000");
  if (!(o.scale > 0) || o.scale > 10) return bad("--scale", "more than 0, at most 10");
  if (o.start_tokens < 1 || o.start_tokens > 1'000'000) return bad("--start", "1 to 1000000");
  if (o.context < 1 || o.context > 10'000'000) return bad("--context", "1 to 10000000");
  if (!(o.tools_per_user >= 1) || o.tools_per_user > 1000) {
    return bad("--tools-per-user", "1 to 1000");
  }
  if (!(o.agents >= 0) || o.agents > 1) return bad("--agents", "0 to 1");
  if (!(o.cuts >= 0) || o.cuts > 1) return bad("--cuts", "0 to 1");
  if (o.arrivals_s < 0 || o.arrivals_s > 86'400) return bad("--arrivals", "0 to 86400");
  return {};
}

}  // namespace

Result<Trace> generate_trace(const GeneratorOptions& options) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  Trace trace;
  trace.header.made_by = fmt::format("samovar trace generate --seed {}", options.seed);
  std::mt19937_64 random(options.seed);
  const double start = std::max(1.0, options.start_tokens * options.scale);
  // All sessions are of one agent, and share what it puts first.
  const std::string system = pseudo_text(static_cast<std::size_t>(start / 2) + 1, random);
  const std::vector<Tool> tools = make_tools(static_cast<std::size_t>(start / 2), random);
  for (int i = 0; i < options.sessions; ++i) {
    SessionMaker(options, i + 1, std::mt19937_64(random()), trace.turns).make(system, tools);
  }
  return trace;
}

}  // namespace samovar::replay
