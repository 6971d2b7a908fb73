#include "tests/e2e/agent_client.h"

#include <gtest/gtest.h>

namespace samovar::testing {
namespace {

// A whole reply, put together from the events of a stream as clients do it.
class StreamedReply {
 public:
  void add(const Json& event) {
    json["id"] = event.at("id");
    if (event.contains("timings")) json["timings"] = event["timings"];
    if (event.contains("usage") && !event["usage"].is_null()) json["usage"] = event["usage"];
    if (event.at("choices").empty()) return;
    const Json& choice = event["choices"][0];
    if (!choice.value("finish_reason", Json()).is_null()) {
      json["choices"][0]["finish_reason"] = choice["finish_reason"];
    }
    const Json& delta = choice["delta"];
    for (const char* part : {"content", "reasoning_content"}) {
      if (!delta.value(part, Json()).is_string()) continue;
      message_[part] = (message_.contains(part) ? message_[part].get<std::string>() : "") +
                       delta[part].get<std::string>();
    }
    for (const Json& call : delta.value("tool_calls", Json::array())) add_call(call);
  }

  Json whole() {
    message_["role"] = "assistant";
    if (!message_.contains("content")) message_["content"] = nullptr;
    json["choices"][0]["message"] = message_;
    return json;
  }

 private:
  void add_call(const Json& part) {
    Json& call = message_["tool_calls"][part.at("index").get<std::size_t>()];
    if (call.is_null()) call = {{"type", "function"}, {"function", {{"arguments", ""}}}};
    if (part.contains("id")) call["id"] = part["id"];
    const Json& function = part.at("function");
    if (function.contains("name")) call["function"]["name"] = function["name"];
    call["function"]["arguments"] =
        call["function"]["arguments"].get<std::string>() + function.value("arguments", "");
  }

  Json json;
  Json message_;
};

}  // namespace

void AgentClient::turn(const std::string& text, int calls) {
  ask(text);
  for (int call = 0; call < calls; ++call) step(true);
  step(false);
}

void AgentClient::ask(const std::string& text) {
  if (!asked_.empty()) messages_[asked_at_]["content"] = asked_;
  asked_ = text;
  asked_at_ = messages_.size();
  messages_.push_back(message("user", text + habits_.reminder));
}

Json AgentClient::explanation(const Step& step) const {
  const std::string id = step.reply.json.at("id");
  return get(port_, "/v1/samovar/turns/" + id + "/explain").json;
}

void AgentClient::step(bool calls) {
  const bool opens = messages_.back()["role"] == "user";
  const int number = static_cast<int>(steps_.size());
  Json body = sampling_of_a_reply(calls, static_cast<unsigned>(number));
  if (habits_.fields.is_object()) body.update(habits_.fields);
  body["messages"] = Json::array({{{"role", "system"}, {"content", habits_.system(number)}}});
  for (const Json& each : messages_) body["messages"].push_back(each);
  body["tools"] = habits_.tools(number);
  Step done{.reply = ask_for(body), .opens = opens};
  ASSERT_EQ(done.reply.status, 200) << done.reply.json;
  const Json& choice = done.reply.json["choices"][0];
  ASSERT_EQ(choice["finish_reason"], calls ? "tool_calls" : "stop") << done.reply.json;
  if (steps_.empty()) {
    done.fresh = done.prompt();
  } else if (opens) {
    done.fresh = tokens_of_a_question(messages_.back());
  } else {
    const Json& before = last().reply.json["usage"];
    done.fresh = done.prompt() - before["prompt_tokens"].get<int>() -
                 before["completion_tokens"].get<int>() + 1;
  }
  take(done.reply);
  steps_.push_back(std::move(done));
}

Reply AgentClient::ask_for(const Json& body) const {
  if (!habits_.streams) return chat(port_, body);
  Json streamed = body;
  streamed["stream_options"] = {{"include_usage", true}};
  ChatStreamClient stream(port_, streamed);
  Reply reply;
  reply.status = stream.status();
  StreamedReply parts;
  while (auto event = stream.next_json()) parts.add(*event);
  EXPECT_TRUE(stream.done());
  const std::string& head = stream.raw().received();
  reply.head = head.substr(0, head.find("\r\n\r\n") + 2);
  reply.json = parts.whole();
  return reply;
}

// The reply goes into the history as this client writes it; its calls get results.
void AgentClient::take(const Reply& reply) {
  Json answer = reply.json["choices"][0]["message"];
  if (!habits_.returns_reasoning) answer.erase("reasoning_content");
  Json results = Json::array();
  for (Json& call : answer.value("tool_calls", Json::array())) {
    const auto seed = static_cast<unsigned>(7000 + 10 * steps_.size() + results.size());
    results.push_back(
        {{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", "1\t" + prose(180, seed)}});
  }
  if (habits_.writes_arguments_anew && answer.contains("tool_calls")) {
    for (Json& call : answer["tool_calls"]) {
      Json& arguments = call["function"]["arguments"];
      arguments = written_anew(arguments.get<std::string>());
    }
  }
  messages_.push_back(answer);
  for (const Json& result : results) messages_.push_back(result);
}

int AgentClient::tokens_of_a_question(const Json& question) const {
  const Reply counted = chat(counts_, samovar::testing::request(Json::array({question}), 1));
  EXPECT_EQ(counted.status, 200) << counted.json;
  return counted.timing("prompt_tokens");
}

}  // namespace samovar::testing
