// AgentClient: an agent's conversation with a server: questions, tool loops, answers; and for each
// request what of its prompt was new. One thread. A request that fails is a failure of the test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/agent_shapes.h"

namespace samovar::testing {

// One request of an agent, and what it cost.
struct Step {
  Reply reply;
  bool opens = false;  // the first request after a message of the user
  // Tokens of the prompt that nobody can have computed before. In a loop: the prompt less that of
  // the request before and its reply, which are both in it, plus one, since the last token of a
  // reply is sampled but not computed. After a message of the user: that message and the generation
  // primer, as many as a prompt of this message alone has. In the first request: everything.
  int fresh = 0;

  [[nodiscard]] int prompt() const { return reply.timing("prompt_tokens"); }
  [[nodiscard]] int computed() const { return reply.timing("computed_tokens"); }
  [[nodiscard]] int again() const { return computed() - fresh; }
  [[nodiscard]] const Json& timings() const { return reply.json.at("timings"); }
  [[nodiscard]] std::string cause() const { return timings().at("miss").at("class"); }
  [[nodiscard]] int timing(const char* name) const { return reply.timing(name); }
  [[nodiscard]] int lost() const { return timings().at("miss").at("tokens_lost"); }
};

class AgentClient {
 public:
  // What this client does; `system` and `tools` are asked for with every request. The number counts
  // requests from 0.
  struct Habits {
    std::function<Json(int request)> system;
    std::function<Json(int request)> tools;
    std::string reminder;  // moves along with the newest message of the user
    bool returns_reasoning = true;
    bool writes_arguments_anew = true;
    bool streams = false;
    Json fields;  // further fields of each request
  };

  // `counts` is the port of a server that tells how many tokens a message has: another one, so that
  // this one has the agent to itself.
  AgentClient(int port, int counts, Habits habits)
      : port_(port), counts_(counts), habits_(std::move(habits)) {}

  // A message of the user, `calls` requests that are answered by calls of tools, and the one that
  // is answered in words. By hand: ask(), and then step() for each request.
  void turn(const std::string& text, int calls);
  void ask(const std::string& text);
  void step(bool calls);

  // As the next requests go to another server: after a restart.
  void move_to(int port) { port_ = port; }

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const Step& last() const { return steps_.back(); }
  [[nodiscard]] const Json& messages() const { return messages_; }  // without the system's
  Habits& habits() { return habits_; }

  // The explanation of a request, as its turn tells it.
  [[nodiscard]] Json explanation(const Step& step) const;

 private:
  Reply ask_for(const Json& body) const;
  void take(const Reply& reply);
  [[nodiscard]] int tokens_of_a_question(const Json& question) const;

  int port_;
  const int counts_;
  Habits habits_;
  Json messages_ = Json::array();
  std::string asked_;  // the newest message of the user, without the reminder
  std::size_t asked_at_ = 0;
  std::vector<Step> steps_;
};

}  // namespace samovar::testing
