// Replies that were cut, and what they are good for at once: sent back, fetched, continued.
#include <algorithm>

#include "tests/e2e/agent_shapes.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

constexpr std::size_t kStopBytes = 16;

// Writes replies as they were said, always.
constexpr const char* kPlainTemplate =
    "{% for each in messages %}<|im_start|>{{ each.role }}\n{{ each.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

class CutReply : public ::testing::Test {
 protected:
  [[nodiscard]] ServerProcess::Words options(const ServerProcess::Words& more = {}) const {
    ServerProcess::Words words = {"-c", "16384", "--store-dir", folder_.path()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Text without end, greedily.
  static Json endless(int max_tokens) {
    Json body = request({message("user", "Tell a long story. " + prose(200, 3))}, max_tokens);
    body["ignore_eos"] = true;
    body["chat_template_kwargs"] = {{"enable_thinking", false}};
    return body;
  }
  // The same in plain words, so that nothing of it is odd to a tokeniser.
  static Json endless_words(int max_tokens) {
    Json body = endless(max_tokens);
    const Json words = sampling_of_a_reply(false, 1);
    for (const char* field : {"presence_penalty", "frequency_penalty", "logit_bias"}) {
      body[field] = words[field];
    }
    return body;
  }
  // What a client has of the reply when it leaves after `events` pieces of text.
  struct Left {
    std::string id;
    std::string text;
    int pieces = 0;
  };
  static Left leave_after(int pieces, int port, const Json& body) {
    Left left;
    ChatStreamClient stream(port, body);
    while (left.pieces < pieces) {
      const auto event = stream.next_json();
      if (!event) break;
      left.id = event->at("id");
      const std::string piece = event->at("choices")[0]["delta"].value("content", "");
      if (!piece.empty()) ++left.pieces;
      left.text += piece;
    }
    return left;
  }
  // Where a stretch of plain characters begins that is nowhere before it.
  static std::size_t unique_place(const std::string& text, std::size_t from) {
    for (std::size_t at = from; at + kStopBytes <= text.size(); ++at) {
      const std::string part = text.substr(at, kStopBytes);
      const bool plain = std::ranges::all_of(part, [](char c) { return c >= ' ' && c < 0x7F; });
      if (plain && part.front() != ' ' && text.find(part) == at) return at;
    }
    return std::string::npos;
  }
  static Json turn(int port, const std::string& id) {
    return get(port, "/v1/samovar/turns/" + id).json;
  }

  const TemporaryFolder folder_;
};

// Goal: a user interrupts and types on at once; the reply's tokens are in memory and stay in use.
// Method: a template that writes replies as they were said.
TEST_F(CutReply, SentBackAtOnceIsReplayed) {
  const ServerProcess server(options({"--chat-template", kPlainTemplate}));
  const Left left = leave_after(40, server.port(), endless_words(4000));
  ASSERT_EQ(left.pieces, 40);
  Json next = endless_words(2);
  next["messages"].push_back(message("assistant", left.text));
  next["messages"].push_back(message("user", "Stop. Something else."));
  const Reply reply = chat(server.port(), next);
  ASSERT_EQ(reply.status, 200) << reply.json;
  EXPECT_EQ(reply.timing("replayed_replies"), 1) << reply.json["timings"];
  EXPECT_LE(reply.timing("computed_tokens"), 128) << reply.json["timings"];
  EXPECT_EQ(reply.json["timings"]["session"], left.id) << "it is the same conversation";
}

TEST_F(CutReply, OfAKeptCompletionIsFetchedWithItsTextSoFar) {
  const ServerProcess server(options());
  Json body = endless(4000);
  body["store"] = true;
  const Left left = leave_after(30, server.port(), body);
  ASSERT_TRUE(eventually([&] { return turn(server.port(), left.id)["status"] == "incomplete"; }));
  const Reply kept = get(server.port(), "/v1/chat/completions/" + left.id);
  ASSERT_EQ(kept.status, 200) << kept.json;
  EXPECT_EQ(kept.json["id"], left.id);
  const std::string text = kept.json["choices"][0]["message"]["content"];
  EXPECT_TRUE(text.starts_with(left.text)) << text << "\n" << left.text;
}

// Goal: a reply that goes on after a cut ends at a stop string. Method: the greedy reply is
// known, so a part of it is the stop string.
TEST_F(CutReply, GoesOnUntilItsStopString) {
  const ServerProcess server(options());
  const Reply whole = chat(server.port(), endless(400));
  ASSERT_EQ(whole.status, 200) << whole.json;
  const std::string text = whole.json["choices"][0]["message"]["content"];
  const std::size_t at = unique_place(text, text.size() / 2);
  ASSERT_NE(at, std::string::npos) << text;
  const std::string stop = text.substr(at, kStopBytes);
  const Left left = leave_after(20, server.port(), endless(4000));
  ASSERT_TRUE(eventually([&] { return turn(server.port(), left.id)["status"] == "incomplete"; }));
  const Json more = {
      {"temperature", 0}, {"max_tokens", 1000}, {"ignore_eos", true}, {"stop", {stop}}};
  const Reply rest = ask(server.port(), post("/v1/samovar/turns/" + left.id + "/continue",
                                             more.dump(), "Connection: close\r\n"));
  ASSERT_EQ(rest.status, 200) << rest.json;
  EXPECT_EQ(rest.json["choices"][0]["finish_reason"], "stop");
  const std::string continued = rest.json["choices"][0]["message"]["content"];
  EXPECT_TRUE(continued == text.substr(0, at)) << continued << "\n" << text.substr(0, at);
}

// Goal: a client that leaves while it waits in the queue leaves no turn that runs for ever.
TEST_F(CutReply, OfAClientThatLeftTheQueueIsClosed) {
  const ServerProcess server(options({"-np", "1"}));
  ChatStreamClient busy(server.port(), endless(15'000));
  ASSERT_TRUE(busy.next_json().has_value());
  const auto running = [&] {
    return get(server.port(), "/v1/samovar/turns?status=running").json["data"];
  };
  std::string waiting;
  {
    RawClient client(server.port());
    client.send(post("/v1/chat/completions", request({message("user", "Hello")}, 4).dump()));
    ASSERT_TRUE(eventually([&] { return running().size() == 2; }));
    waiting = running()[0]["id"];
  }
  // Its place in the queue is given up while the other still runs.
  EXPECT_TRUE(eventually([&] { return running().size() == 1; })) << running();
  busy.raw().close();
  EXPECT_TRUE(eventually([&] { return running().empty(); })) << running();
  const Json left = turn(server.port(), waiting);
  EXPECT_NE(left["status"], "running");
  EXPECT_NE(left["status"], "complete") << left;
  EXPECT_NE(left["error"], nullptr);
}

}  // namespace
}  // namespace samovar::testing
