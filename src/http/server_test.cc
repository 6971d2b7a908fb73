// HttpServer over real sockets on loopback, with a handler made by each test.
#include "http/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "http/http_doubles.h"

namespace samovar {
namespace {

using std::chrono::milliseconds;
using testing::ask;
using testing::echo;
using testing::eventually;
using testing::get;
using testing::post;
using testing::RawClient;
using testing::serve;

TEST(HttpServer, PassesRequestsToTheHandlerAndResponsesBack) {
  const auto server = serve(echo);
  const std::string reply = ask(*server, post("/a%20b?x=1", "{}", "Connection: close\r\n"));
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << reply;
  EXPECT_NE(reply.find("POST /a b x=1 {}"), std::string::npos) << reply;
  EXPECT_NE(reply.find("application/json"), std::string::npos) << reply;
  EXPECT_EQ(reply.find("Access-Control"), std::string::npos) << "CORS is off";
}

// Goal: `curl -d` without a content type says it sends a form; the body must arrive all the same.
TEST(HttpServer, BodyArrivesWhateverItsContentType) {
  const auto server = serve(echo);
  const std::string body = "{\"a\":\"" + std::string(2 << 20, 'x') + "\"}";
  const std::string reply =
      ask(*server,
          "POST /p HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
          "application/x-www-form-urlencoded\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << reply.substr(0, 300);
  EXPECT_TRUE(reply.ends_with(body));
}

// Goal: one connection serves several requests, even if they arrive together or with a stray line
// end.
TEST(HttpServer, ConnectionIsKeptAndEarlyBytesAreNotLost) {
  const auto server = serve(echo);
  RawClient client(server->port());
  client.send(post("/one", "{}") + "\r\n" + post("/two", "{}"));
  client.receive_until("POST /two");
  client.send(post("/three", "{}"));
  const std::string& all = client.receive_until("POST /three  {}");
  EXPECT_NE(all.find("POST /one  {}"), std::string::npos) << all;
  EXPECT_NE(all.find("POST /two  {}"), std::string::npos) << all;
  EXPECT_NE(all.find("POST /three  {}"), std::string::npos) << all;
}

struct Refusal {
  const char* what;
  std::string request;
  int status;
};

// Goal: whatever is refused below the handler has OpenAI's error form and the right status.
TEST(HttpServer, RefusalsHaveTheirStatusAndAnErrorBody) {
  HttpServerOptions options;
  options.body_bytes_max = 1000;
  options.api_keys = {"key"};
  const auto server = serve(echo, options);
  const std::string key = "x-api-key: key\r\nConnection: close\r\n";
  const std::vector<Refusal> table = {
      {"body too large", post("/p", std::string(2000, 'x'), key), 413},
      {"chunked body too large",
       "POST /p HTTP/1.1\r\nHost: localhost\r\n" + key +
           "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'x') + "\r\n0\r\n\r\n",
       413},
      {"no key", get("/p"), 401},
      {"no key, before the body is read",
       post("/p", std::string(2000, 'x'), "Connection: close\r\n"), 401},
      {"foreign host", get("/p", "Host: evil.example\r\n" + key), 403},
      {"not HTTP", "nonsense\r\n\r\n", 400},
      {"header without a colon", get("/p", "Host: localhost\r\nnonsense\r\n" + key), 400},
      {"ambiguous framing",
       "POST /p HTTP/1.1\r\nHost: localhost\r\n" + key +
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       400},
      {"long path", get("/" + std::string(1'000, 'p'), "Host: localhost\r\n" + key), 404},
      {"very many headers",
       get(
           "/p", "Host: localhost\r\n" +
                     [] {
                       std::string lines;
                       for (int i = 0; i < 200; ++i) lines += "H" + std::to_string(i) + ": v\r\n";
                       return lines;
                     }()),
       400},
  };
  for (const Refusal& refusal : table) {
    const std::string reply = ask(*server, refusal.request);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 " + std::to_string(refusal.status) + " "))
        << refusal.what << ": " << reply.substr(0, 200);
    EXPECT_NE(reply.find("{\"error\":{"), std::string::npos) << refusal.what << ": " << reply;
  }
}

// Goal: no thread reads what nobody may send, or what has no end but the connection's. Method: one
// thread, clients that neither go on nor close, and no timeout that would end it.
TEST(HttpServer, BodiesThatCouldHoldAThreadAreNotRead) {
  HttpServerOptions options;
  options.threads = 1;
  options.api_keys = {"key"};
  options.timeouts.read = options.timeouts.request = std::chrono::hours(1);
  const auto server = serve(echo, options);
  const std::string much(1'100'000, 'x');  // more than the reception holds
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n";
  const std::string old = " HTTP/1.0\r\nHost: localhost\r\n";
  const std::string key = "x-api-key: key\r\n";
  const std::string close = "Connection: close\r\n";
  const std::vector<Refusal> table = {
      {"POST /health, no length", "POST /health" + old + "\r\nx", 401},
      {"long body of a probe", "GET /health" + host + "Content-Length: 2000000\r\n\r\n" + much,
       400},
      {"chunks of a probe",
       "GET /ready" + host + key + "Transfer-Encoding: chunked\r\n\r\n1e8480\r\n" + much, 400},
      {"long body, no key", "POST /p" + host + "Content-Length: 2000000\r\n\r\n" + much, 401},
      {"HTTP/1.0, no length", "POST /p" + old + key + "\r\nx", 411},
      {"kept HTTP/1.0", "POST /p" + old + key + "Connection: keep-alive\r\n\r\nx", 411},
      {"POST, no length", "POST /p" + host + key + close + "\r\nx", 411},
      {"PUT, no length", "PUT /p" + host + key + close + "\r\nx", 411},
      {"PATCH, no length", "PATCH /p" + host + key + close + "\r\nx", 411},
      {"DELETE has no body", "DELETE /p" + host + key + close + "\r\nx", 200},
      {"a kept POST without length has none", "POST /p" + host + key + "\r\n", 200},
  };
  std::vector<std::unique_ptr<RawClient>> clients;  // they stay
  for (const Refusal& refusal : table) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(refusal.request);
    const std::string& reply = clients.back()->receive_until("\r\n\r\n");
    ASSERT_TRUE(reply.starts_with("HTTP/1.1 " + std::to_string(refusal.status) + " "))
        << refusal.what << ": " << reply;
  }
  RawClient messages(server->port());
  messages.send("POST /v1/messages" + old + key + "\r\nx");
  const std::string& reply = messages.receive_until("}}");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 411 Length Required\r\n")) << reply;
  EXPECT_NE(reply.find(R"({"type":"error")"), std::string::npos) << reply;
  EXPECT_NE(ask(*server, get("/p", "Host: localhost\r\n" + key)).find("GET /p"), std::string::npos);
}

// Goal: a head beyond its bound is not read to its end, and says so in the path's error form.
TEST(HttpServer, OversizeHeadIsRefused) {
  const auto server = serve(echo);
  const std::string line = ask(*server, "GET /" + std::string(70'000, 'p'));
  EXPECT_TRUE(line.starts_with("HTTP/1.1 431 ")) << line;
  EXPECT_NE(line.find("{\"error\":{"), std::string::npos) << line;
  std::string many = "GET /v1/messages HTTP/1.1\r\nHost: localhost\r\n";
  while (many.size() < 70'000) many += "Name: value\r\n";
  const std::string headers = ask(*server, many + "\r\n");
  EXPECT_TRUE(headers.starts_with("HTTP/1.1 431 ")) << headers;
  EXPECT_NE(headers.find("{\"type\":\"error\""), std::string::npos) << headers;
}

// Goal: a handler that throws costs one 500, not the server.
TEST(HttpServer, ThrowingHandlerIsAnInternalError) {
  const auto server = serve([](const HttpRequest& request) -> HttpResponse {
    if (request.path == "/bad") throw std::runtime_error("secret detail");
    return echo(request);
  });
  const std::string reply = ask(*server, get("/bad"));
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 500")) << reply;
  EXPECT_EQ(reply.find("secret"), std::string::npos) << reply;
  EXPECT_TRUE(ask(*server, get("/good")).starts_with("HTTP/1.1 200"));
}

// Goal: what a stream writes leaves at once. Method: the handler waits for the client to have seen
// it.
TEST(HttpServer, StreamedPiecesAreSentAtOnce) {
  std::promise<void> seen;
  const auto server = serve([&seen](const HttpRequest&) {
    HttpResponse response;
    response.content_type = "text/event-stream";
    response.stream = [&seen](BodyWriter& writer) {
      EXPECT_TRUE(writer.write("data: first\n\n"));
      EXPECT_EQ(seen.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
      EXPECT_TRUE(writer.write("data: [DONE]\n\n"));
    };
    return response;
  });
  RawClient client(server->port());
  client.send(post("/s", "{}"));
  EXPECT_NE(client.receive_until("data: first").find("text/event-stream"), std::string::npos);
  seen.set_value();
  EXPECT_NE(client.receive_until("\r\n0\r\n\r\n").find("data: [DONE]"), std::string::npos);
}

// Goal: a stream that throws is seen as broken off: no terminating chunk, and the server goes on.
TEST(HttpServer, ThrowingStreamBreaksTheConnectionOff) {
  const auto server = serve([](const HttpRequest& request) {
    if (request.path != "/s") return echo(request);
    HttpResponse response;
    response.stream = [](BodyWriter& writer) {
      writer.write("part");
      throw std::runtime_error("broken");
    };
    return response;
  });
  const std::string reply = ask(*server, get("/s"));
  EXPECT_NE(reply.find("part"), std::string::npos) << reply;
  EXPECT_FALSE(reply.ends_with("0\r\n\r\n")) << reply;
  EXPECT_TRUE(ask(*server, get("/good")).starts_with("HTTP/1.1 200"));
}

// --- who is still there (docs/decisions/client-gone.md) ---

// A handler that answers nothing until its client is gone.
struct Waiting {
  std::atomic<bool> entered = false;
  std::atomic<bool> gone = false;
  HttpResponse operator()(const HttpRequest& request) {
    entered = true;
    gone = eventually([&request] { return request.client_gone(); });
    return echo(request);
  }
};

enum class Leave { fin, reset, stray_bytes_then_fin };

class LeavingClient : public ::testing::TestWithParam<Leave> {
 protected:
  static void leave(RawClient& client, Leave how) {
    if (how == Leave::reset) return client.reset();
    if (how == Leave::stray_bytes_then_fin) client.send("\r\n\r\n");
    client.close();
  }
};

// Goal: a client that leaves while nothing was written yet is noticed, also behind stray bytes.
TEST_P(LeavingClient, IsNoticedBeforeTheResponse) {
  Waiting waiting;
  const auto server = serve([&waiting](const HttpRequest& request) { return waiting(request); });
  RawClient client(server->port());
  client.send(post("/w", "{}"));
  ASSERT_TRUE(eventually([&] { return waiting.entered.load(); }));
  leave(client, GetParam());
  EXPECT_TRUE(eventually([&] { return waiting.gone.load(); }));
}

// Goal: a client that leaves a stream is noticed after the next write or two.
TEST_P(LeavingClient, IsNoticedByAStreamThatWrites) {
  std::atomic<int> writes_after_leaving = 0;
  std::atomic<bool> left = false;
  std::atomic<bool> noticed = false;
  const auto server = serve([&](const HttpRequest&) {
    HttpResponse response;
    response.stream = [&](BodyWriter& writer) {
      writer.write(": keepalive\n\n");
      eventually([&] { return left.load(); });
      std::this_thread::sleep_for(milliseconds(50));  // the peer's bytes cross the kernel
      for (int i = 0; i < 10 && !writer.client_gone(); ++i) {
        ++writes_after_leaving;
        if (!writer.write(": keepalive\n\n")) break;
        std::this_thread::sleep_for(milliseconds(50));
      }
      noticed = true;
    };
    return response;
  });
  RawClient client(server->port());
  client.send(post("/s", "{}"));
  client.receive_until("keepalive");
  leave(client, GetParam());
  left = true;
  ASSERT_TRUE(eventually([&] { return noticed.load(); }));
  EXPECT_LE(writes_after_leaving, 2);
}

INSTANTIATE_TEST_SUITE_P(All, LeavingClient,
                         ::testing::Values(Leave::fin, Leave::reset, Leave::stray_bytes_then_fin));

// Goal: a client that shuts down its sending side is not taken for gone before its response, which
// arrives as if nothing had been sent to find that out. Method: it has seen the first probe.
TEST(HttpServer, HalfClosingClientGetsItsWholeReply) {
  std::atomic<bool> probed = false;
  const auto server = serve([&probed](const HttpRequest& request) {
    bool gone = false;
    EXPECT_TRUE(eventually([&] {
      gone = gone || request.client_gone();
      return probed.load();
    }));
    EXPECT_FALSE(gone || request.client_gone());
    return echo(request);
  });
  const std::string request = post("/w", "{}");
  RawClient client(server->port());
  client.send(request);
  client.finish_sending();
  EXPECT_EQ(client.receive_until("H"), "H");
  probed = true;
  const std::string& reply = client.receive_all();
  probed = true;
  RawClient other(server->port());
  other.send(request);
  other.receive_until("POST /w  {}");
  EXPECT_EQ(reply, other.received());
}

// Goal: one that closes for good later on, after probes, is noticed too.
TEST(HttpServer, HalfClosedClientThatLeavesIsNoticed) {
  Waiting waiting;
  const auto server = serve([&waiting](const HttpRequest& request) { return waiting(request); });
  RawClient client(server->port());
  client.send(post("/w", "{}"));
  client.finish_sending();
  EXPECT_EQ(client.receive_until("H").substr(0, 1), "H");
  client.close();
  EXPECT_TRUE(eventually([&] { return waiting.gone.load(); }));
}

// Goal: a client that shuts down its sending side after the request still gets its whole stream.
TEST(HttpServer, HalfClosingClientIsStreamedTo) {
  std::atomic<bool> half_closed = false;
  const auto server = serve([&half_closed](const HttpRequest&) {
    HttpResponse response;
    response.stream = [&half_closed](BodyWriter& writer) {
      eventually([&] { return half_closed.load(); });
      std::this_thread::sleep_for(milliseconds(50));
      for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(writer.client_gone());
        EXPECT_TRUE(writer.write("data: " + std::to_string(i) + "\n\n"));
        std::this_thread::sleep_for(milliseconds(20));
      }
    };
    return response;
  });
  RawClient client(server->port());
  client.send(post("/s", "{}"));
  client.finish_sending();
  half_closed = true;
  EXPECT_NE(client.receive_all().find("data: 4\n\n\r\n0\r\n\r\n"), std::string::npos);
}

// Goal: a request that never ends, and a reader that never reads, do not hold a thread for ever.
TEST(HttpServer, EndlessRequestIsCutOff) {
  HttpServerOptions options;
  options.timeouts.read = milliseconds(100);
  options.timeouts.request = milliseconds(200);
  const auto server = serve(echo, options);
  RawClient client(server->port());
  client.send("POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 408 ")) << client.received();
}

// Goal: bytes that keep coming do not keep an unfinished head alive.
TEST(HttpServer, EndlessHeadIsCutOff) {
  HttpServerOptions options;
  options.timeouts.head = milliseconds(100);
  const auto server = serve(echo, options);
  RawClient client(server->port());
  client.send("GET / HTTP/1.1\r\n");
  EXPECT_TRUE(eventually([&] {
    client.send("h");
    client.receive_more(0);
    return !client.received().empty();
  }));
  EXPECT_TRUE(client.received().starts_with("HTTP/1.1 408 ")) << client.received();
}

// Goal: a client that waits to be told to send its body is told, and may take its time.
TEST(HttpServer, ExpectedContinueIsGiven) {
  const auto server = serve(echo);
  RawClient client(server->port());
  client.send(
      "POST /p HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 100 ")) << client.received();
  client.send("{}");
  EXPECT_NE(client.receive_until("POST /p  {}").find("POST /p  {}"), std::string::npos);
}

TEST(HttpServer, ReaderThatNeverReadsIsGoneAfterTheWriteTimeout) {
  HttpServerOptions options;
  options.timeouts.write = milliseconds(100);
  std::atomic<bool> ended = false;
  const auto server = serve(
      [&ended](const HttpRequest&) {
        HttpResponse response;
        response.stream = [&ended](BodyWriter& writer) {
          const std::string piece(1 << 16, 'x');
          while (writer.write(piece)) {
          }
          EXPECT_TRUE(writer.client_gone());
          ended = true;
        };
        return response;
      },
      options);
  RawClient client(server->port());
  client.send(post("/s", "{}"));
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

// --- life ---

TEST(HttpServer, TakenPortIsRefusedWithTheFlag) {
  const auto server = serve(echo);
  HttpServerOptions options;
  options.port = server->port();
  const auto second = HttpServer::bind(options, echo);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().field, "--port");
  EXPECT_NE(second.error().message.find(std::to_string(server->port())), std::string::npos);
}

TEST(HttpServer, UnknownAddressIsRefusedWithTheFlag) {
  HttpServerOptions options;
  options.host = "203.0.113.1";
  options.api_keys = {"key"};
  const auto server = HttpServer::bind(options, echo);
  ASSERT_FALSE(server.has_value());
  EXPECT_EQ(server.error().field, "--host");
}

// Goal: whoever forgets the key learns of it at start, not from strangers.
TEST(HttpServer, OtherAddressesWithoutAKeyAreRefused) {
  HttpServerOptions options;
  options.host = "0.0.0.0";
  const auto server = HttpServer::bind(options, echo);
  ASSERT_FALSE(server.has_value());
  EXPECT_EQ(server.error().kind, ErrorKind::forbidden);
  EXPECT_EQ(server.error().field, "--host");
}

// Goal: stop() lets a running request end within the grace, and cuts one that does not.
TEST(HttpServer, StopWaitsForRunningRequests) {
  std::atomic<bool> entered = false;
  const auto server = serve([&entered](const HttpRequest& request) {
    entered = true;
    std::this_thread::sleep_for(milliseconds(200));
    return echo(request);
  });
  RawClient client(server->port());
  client.send(post("/slow", "{}"));
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  server->stop(20 * kSecond);
  EXPECT_NE(client.receive_all().find("POST /slow"), std::string::npos);
  EXPECT_FALSE(RawClient(server->port()).connected());
}

TEST(HttpServer, StopCutsWhatOutlastsTheGrace) {
  Waiting waiting;
  const auto server = serve([&waiting](const HttpRequest& request) { return waiting(request); });
  RawClient client(server->port());
  client.send(post("/w", "{}"));
  ASSERT_TRUE(eventually([&] { return waiting.entered.load(); }));
  server->stop(10 * kMillisecond);
  EXPECT_TRUE(waiting.gone);
}

// Goal: slow connections beyond the thread limit wait; nothing is lost. Method: two threads, six
// clients at once.
TEST(HttpServer, MoreClientsThanThreadsAreServedInTurn) {
  HttpServerOptions options;
  options.threads = 2;
  const auto server = serve(echo, options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(get("/c" + std::to_string(i)));
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_NE(clients[static_cast<std::size_t>(i)]->receive_all().find("/c" + std::to_string(i)),
              std::string::npos);
  }
}

}  // namespace
}  // namespace samovar
