// Clients that leave, half-leave and wait, against a real server that is computing a long prompt.
#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {
namespace {

// Long enough to be in prefill for seconds on one thread.
Json long_request(unsigned seed, int max_tokens) {
  return request({message("user", prose(12'000, seed))}, max_tokens);
}

class ClientGone : public ::testing::Test {
 protected:
  // One turn at a time: the next one is answered only if the one before it has ended.
  ServerProcess server_{{"-c", "65536", "-np", "1", "-ub", "256"}};
};

// Goal: a stream that is left during prefill stops, and what was computed is found again.
TEST_F(ClientGone, StreamLeftDuringPrefillStopsAndIsReused) {
  Json body = long_request(1, 100'000);
  body["return_progress"] = true;
  int seen = 0;
  {
    ChatStreamClient stream(server_.port(), body);
    while (auto event = stream.next_json()) {
      if (!event->contains("prompt_progress")) continue;
      seen = event->at("prompt_progress").at("processed");
      if (seen >= 2'000) break;
    }
  }
  ASSERT_GE(seen, 2'000);
  const Reply again = chat(server_.port(), long_request(1, 2));
  ASSERT_EQ(again.status, 200) << again.json;
  EXPECT_GE(again.timing("reused_tokens"), seen - 256);
  EXPECT_GT(again.timing("computed_tokens"), 1'000) << "the rest was left uncomputed";
}

// Goal: the same for a client that waits for a whole reply, where nothing is written meanwhile.
TEST_F(ClientGone, WholeReplyLeftDuringPrefillStopsAndIsReused) {
  {
    RawClient client(server_.port());
    client.send(post("/v1/chat/completions", long_request(2, 100'000).dump()));
    std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
  }
  const Reply again = chat(server_.port(), long_request(2, 2));
  ASSERT_EQ(again.status, 200) << again.json;
  EXPECT_GT(again.timing("reused_tokens"), 0);
}

// Goal: one that leaves while it waits in the queue, behind stray bytes, costs next to nothing
// later.
TEST_F(ClientGone, LeavingTheQueueComputesHardlyAnything) {
  Json running = request({message("user", "go on")}, 100'000);
  running["ignore_eos"] = true;
  ChatStreamClient first(server_.port(), running);
  ASSERT_TRUE(first.next_json().has_value());
  {
    RawClient waiting(server_.port());
    waiting.send(post("/v1/chat/completions", long_request(3, 100'000).dump()) + "\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  first.raw().close();
  const Reply next = chat(server_.port(), long_request(3, 2));
  ASSERT_EQ(next.status, 200) << next.json;
  // Leaving is noticed at the next poll; until then the turn may have got one piece of prefill.
  EXPECT_LE(next.timing("reused_tokens"), 512);
}

// Goal: a client hears something at least each second while its prompt is computed.
TEST_F(ClientGone, LongPrefillSendsKeepalives) {
  ChatStreamClient stream(server_.port(), long_request(4, 2));
  double prefill_ms = 0;
  while (auto event = stream.next_json()) {
    if (event->contains("timings")) prefill_ms = event->at("timings").at("prefill_ms");
  }
  EXPECT_TRUE(stream.done());
  EXPECT_GE(stream.keepalives(), static_cast<int>(prefill_ms / 1000.0) - 1) << prefill_ms;
  EXPECT_GT(prefill_ms, 1'000.0) << "the prompt is too short for this machine";
}

// Goal: a client that shuts down its sending side after the request gets its whole stream.
TEST_F(ClientGone, HalfClosedClientIsServed) {
  ChatStreamClient stream(server_.port(), request({message("user", prose(1'500, 5))}, 20));
  stream.raw().finish_sending();
  int events = 0;
  while (stream.next_json()) ++events;
  EXPECT_TRUE(stream.done());
  EXPECT_GT(events, 2);
}

// Goal: one that does so without streaming gets its whole reply, the same as if it had not.
TEST_F(ClientGone, HalfClosedClientGetsItsWholeReply) {
  const Json body = request({message("user", prose(6'000, 6))}, 20);
  RawClient client(server_.port());
  client.send(post("/v1/chat/completions", body.dump(), "Connection: close\r\n"));
  client.finish_sending();
  const std::string& all = client.receive_all(120);
  ASSERT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << all;
  Json reply = Json::parse(all.substr(all.find("\r\n\r\n") + 4), nullptr, false);
  EXPECT_EQ(reply["usage"]["completion_tokens"], 20) << reply;
  EXPECT_EQ(reply["choices"][0]["message"]["content"],
            chat(server_.port(), body).json["choices"][0]["message"]["content"]);
}

}  // namespace
}  // namespace samovar::testing
