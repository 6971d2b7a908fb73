// What many, slow, idle and stalled clients do to a server with few threads, over real sockets.
#include "http/reception.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
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

using Clients = std::vector<std::unique_ptr<RawClient>>;

Clients connect(const HttpServer& server, int count, std::string_view first_bytes) {
  Clients clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    EXPECT_TRUE(clients.back()->connected()) << i;
    clients.back()->send(first_bytes);
  }
  return clients;
}

HttpServerOptions with_threads(std::size_t threads) {
  HttpServerOptions options;
  options.threads = threads;
  return options;
}

// A count that threads wait for.
class Counter {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool reaches(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A client that asks over and over on one connection.
class Asker {
 public:
  explicit Asker(const HttpServer& server) : client_(server.port()) {}
  bool answered(std::string_view path = "/ask") {
    const std::string text = std::to_string(++asked_);
    client_.send(get(std::string(path) + "?" + text, "Host: localhost\r\n", ""));
    const std::string end = "GET " + std::string(path) + " " + text + " ";
    return client_.receive_until(end).ends_with(end);
  }
  // Once two are answered, the reception has taken in what other clients had sent before: the
  // second is read in a later round.
  bool settles(std::string_view path = "/ask") { return answered(path) && answered(path); }

 private:
  RawClient client_;
  int asked_ = 0;
};

// A handler with a stream at /s, one piece for each piece that the test asks for, and one at /wait
// that waits until it is let go. Everything else is echoed.
struct Stage {
  Counter entered, pieces, released;
  HttpResponse operator()(const HttpRequest& request) {
    if (request.path == "/wait") {
      entered.add();
      EXPECT_TRUE(released.reaches(1));
    }
    if (request.path != "/s") return echo(request);
    HttpResponse response;
    response.stream = [this](BodyWriter& writer) {
      for (int i = 1; i <= 5; ++i) {
        EXPECT_TRUE(pieces.reaches(i));
        EXPECT_TRUE(writer.write("piece " + std::to_string(i) + "\n"));
      }
    };
    return response;
  }
};

class Crowd : public ::testing::Test {
 protected:
  std::unique_ptr<HttpServer> serve_stage(const HttpServerOptions& options) {
    return serve([this](const HttpRequest& request) { return stage_(request); }, options);
  }
  Stage stage_;
};

// Goal: 2,000 connections that send one byte and stall neither stop a running stream nor new
// requests, on two threads.
TEST_F(Crowd, StalledHeadsStopNobody) {
  raise_descriptor_limit();
  if (descriptor_limit() < 5'000) GTEST_SKIP() << "the limit of open files is too low";
  const auto server = serve_stage(with_threads(2));
  RawClient stream(server->port());
  stream.send(post("/s", "{}"));
  stage_.pieces.add();
  stream.receive_until("piece 1\n");
  const Clients stalled = connect(*server, 2'000, "P");
  Asker asker(*server);
  for (int i = 2; i <= 5; ++i) {
    EXPECT_TRUE(asker.answered()) << i;
    EXPECT_NE(ask(*server, get("/new")).find("GET /new"), std::string::npos) << i;
    stage_.pieces.add();
    const std::string piece = "piece " + std::to_string(i) + "\n";
    EXPECT_NE(stream.receive_until(piece).find(piece), std::string::npos);
  }
  EXPECT_NE(stream.receive_until("\r\n0\r\n\r\n").find("\r\n0\r\n\r\n"), std::string::npos);
  // They are all still welcome.
  stalled.front()->send(post("/first", "{}").substr(1));
  stalled.back()->send(post("/last", "{}").substr(1));
  EXPECT_NE(stalled.front()->receive_until("POST /first").find("POST /first"), std::string::npos);
  EXPECT_NE(stalled.back()->receive_until("POST /last").find("POST /last"), std::string::npos);
}

// Goal: bodies that come byte by byte take no thread until they are there.
TEST_F(Crowd, SlowBodiesHoldNoThread) {
  const auto server = serve(echo, with_threads(1));
  const std::string request = post("/slow", R"({"a":1})", "Connection: close\r\n");
  const std::size_t head = request.find("\r\n\r\n") + 4;
  const Clients slow = connect(*server, 20, request.substr(0, head));
  Asker asker(*server);
  for (const char byte : request.substr(head)) {
    EXPECT_TRUE(asker.settles());
    for (const auto& client : slow) client->send({&byte, 1});
  }
  for (const auto& client : slow) {
    EXPECT_TRUE(client->receive_all().ends_with(R"(POST /slow  {"a":1})")) << client->received();
  }
}

// Goal: connections that are kept between requests take no thread: 50 of them on two.
TEST_F(Crowd, KeptConnectionsHoldNoThread) {
  const auto server = serve(echo, with_threads(2));
  const Clients clients = connect(*server, 50, get("/one", "Host: localhost\r\n", ""));
  for (const auto& client : clients) client->receive_until("GET /one");
  EXPECT_NE(ask(*server, get("/new")).find("GET /new"), std::string::npos);
  for (const auto& client : clients) {
    client->send(get("/two"));
    EXPECT_NE(client->receive_all().find("GET /two"), std::string::npos) << client->received();
  }
}

// Goal: where a request is cut on its way changes nothing. Method: at every byte, with lengths,
// chunks and a second request behind it; between the two parts the reception has seen the first.
TEST_F(Crowd, RequestSplitAnywhereIsAnsweredTheSame) {
  const auto server = serve(echo, with_threads(1));
  Asker asker(*server);
  const std::string close = "Connection: close\r\n";
  const std::string requests[] = {
      "\r\n" + post("/length", R"({"a":"\r\n\r\n"})", close),
      "POST /chunks HTTP/1.1\r\nHost: localhost\r\n" + close +
          "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\n\r\n\r\n\r\n0\r\nA: b\r\n\r\n",
      post("/one", "{}") + post("/two", "[]", close),
  };
  for (const std::string& request : requests) {
    const std::string whole = ask(*server, request);
    EXPECT_NE(whole.find("200 OK"), std::string::npos) << whole;
    for (std::size_t cut = 1; cut < request.size(); ++cut) {
      RawClient client(server->port());
      client.send(request.substr(0, cut));
      ASSERT_TRUE(asker.settles());
      client.send(request.substr(cut));
      ASSERT_EQ(client.receive_all(), whole) << request << " cut at " << cut;
    }
  }
}

// Goal: requests that come together are all answered, in order, also if the client says at once
// that they are all.
TEST_F(Crowd, PipelinedRequestsBeforeAHalfCloseAreAllAnswered) {
  const auto server = serve(echo, with_threads(1));
  RawClient client(server->port());
  std::string all;
  for (int i = 0; i < 20; ++i) all += post("/" + std::to_string(i) + "/", "{}");
  client.send(all);
  client.finish_sending();
  const std::string& replies = client.receive_all();
  std::size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = replies.find("POST /" + std::to_string(i) + "/  {}", at);
    ASSERT_NE(at, std::string::npos) << i << ": " << replies;
  }
}

// Goal: a request that breaks off is answered for what it is, not waited for.
TEST_F(Crowd, RequestThatBreaksOffIsRefusedAtOnce) {
  const auto server = serve(echo, with_threads(1));
  RawClient client(server->port());
  client.send(post("/p", "{}").substr(0, 60));
  client.finish_sending();
  EXPECT_EQ(client.receive_all().find("200 OK"), std::string::npos) << client.received();
}

// Goal: a full reception takes new clients in and sends away the one that stalled longest.
TEST_F(Crowd, FullOneSendsTheLongestStalledAway) {
  HttpServerOptions options = with_threads(1);
  options.connections = 8;
  const auto server = serve(echo, options);
  const Clients stalled = connect(*server, 8, "GET /v1/messages HTTP/1.1\r\n");
  EXPECT_NE(ask(*server, get("/new")).find("GET /new"), std::string::npos);
  const std::string& gone = stalled[0]->receive_all();
  EXPECT_TRUE(gone.starts_with("HTTP/1.1 503 ")) << gone;
  EXPECT_NE(gone.find("Retry-After: 1\r\n"), std::string::npos) << gone;
  EXPECT_NE(gone.find(R"({"type":"error")"), std::string::npos) << gone;
  stalled[7]->send("Host: localhost\r\n\r\n");
  EXPECT_NE(stalled[7]->receive_until("GET /v1/messages").find("200 OK"), std::string::npos);
}

// Goal: the bytes of unfinished requests are bounded in all.
TEST_F(Crowd, TooManyBytesAreShed) {
  HttpServerOptions options = with_threads(1);
  options.waiting_bytes = 100'000;
  const auto server = serve(echo, options);
  const std::string request = post("/p", std::string(40'000, 'x'), "Connection: close\r\n");
  const std::string most = request.substr(0, request.size() - 1);
  RawClient first(server->port());
  first.send(most);
  Asker asker(*server);
  ASSERT_TRUE(asker.settles());
  const Clients others = connect(*server, 2, most);
  EXPECT_TRUE(first.receive_all().starts_with("HTTP/1.1 503 ")) << first.received();
  for (const auto& client : others) {
    client->send("x");
    EXPECT_TRUE(client->receive_all().ends_with(std::string(40'000, 'x')));
  }
}

// Goal: when all threads are at work, requests wait in order, further ones are refused with a time
// to come again, and probes are answered.
TEST_F(Crowd, BusyThreads) {
  HttpServerOptions options = with_threads(1);
  options.waiting = 1;
  const auto server = serve_stage(options);
  RawClient running(server->port());
  running.send(get("/wait"));
  ASSERT_TRUE(stage_.entered.reaches(1));
  Asker probe(*server);
  RawClient waiting(server->port());
  waiting.send(get("/second"));
  EXPECT_TRUE(probe.answered("/health"));
  const std::string refused = ask(*server, post("/v1/messages", "{}"));
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
  EXPECT_NE(refused.find("Retry-After: 1\r\n"), std::string::npos) << refused;
  EXPECT_NE(refused.find(R"("type":"overloaded_error")"), std::string::npos) << refused;
  EXPECT_TRUE(probe.answered("/ready"));
  stage_.released.add();
  EXPECT_TRUE(running.receive_all().ends_with("GET /wait  ")) << running.received();
  EXPECT_TRUE(waiting.receive_all().ends_with("GET /second  ")) << waiting.received();
}

// Goal: a request does not wait for a thread for ever, and one whose client left is forgotten.
TEST_F(Crowd, WaitingEnds) {
  HttpServerOptions options = with_threads(1);
  options.waiting = 1;
  options.timeouts.wait = milliseconds(300);
  const auto server = serve_stage(options);
  RawClient running(server->port());
  running.send(get("/wait"));
  ASSERT_TRUE(stage_.entered.reaches(1));
  Asker probe(*server);
  {
    RawClient leaving(server->port());
    leaving.send(get("/leaving"));
    EXPECT_TRUE(probe.settles("/health"));
    leaving.reset();
  }
  EXPECT_TRUE(probe.settles("/health"));
  const std::string refused = ask(*server, get("/late"));
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
  stage_.released.add();
  EXPECT_TRUE(running.receive_all().ends_with("GET /wait  "));
}

// Goal: stop() answers who waits, closes who stalls or idles, and lets the running request end.
TEST_F(Crowd, StopWithConnectionsWaiting) {
  const auto server = serve_stage(with_threads(1));
  Asker probe(*server);
  EXPECT_TRUE(probe.answered("/health"));  // kept and idle from now on
  RawClient running(server->port());
  running.send(get("/wait"));
  ASSERT_TRUE(stage_.entered.reaches(1));
  RawClient waiting(server->port());
  waiting.send(get("/second"));
  RawClient stalled(server->port());
  stalled.send("GET /sta");
  EXPECT_TRUE(probe.settles("/health"));
  std::thread stopping([&server] { server->stop(60 * kSecond); });
  EXPECT_TRUE(waiting.receive_all().starts_with("HTTP/1.1 503 ")) << waiting.received();
  EXPECT_EQ(stalled.receive_all(), "");
  EXPECT_FALSE(RawClient(server->port()).connected());
  stage_.released.add();
  EXPECT_TRUE(running.receive_all().ends_with("GET /wait  ")) << running.received();
  stopping.join();
}

// Goal: a stream whose request was in work before stop() is delivered to its end.
TEST_F(Crowd, StreamThatBeginsWhileStoppingIsComplete) {
  const auto server = serve(
      [this](const HttpRequest&) {
        stage_.entered.add();
        EXPECT_TRUE(stage_.released.reaches(1));
        HttpResponse response;
        response.stream = [](BodyWriter& writer) { EXPECT_TRUE(writer.write("whole")); };
        return response;
      },
      with_threads(1));
  RawClient client(server->port());
  client.send(get("/s"));
  ASSERT_TRUE(stage_.entered.reaches(1));
  std::thread stopping([&server] { server->stop(60 * kSecond); });
  EXPECT_TRUE(eventually([&] { return !RawClient(server->port()).connected(); }));
  stage_.released.add();
  EXPECT_TRUE(client.receive_all().ends_with("5\r\nwhole\r\n0\r\n\r\n")) << client.received();
  stopping.join();
}

// Goal: 200 streams run at the same time and are all complete. Method: each waits for all others.
TEST_F(Crowd, TwoHundredStreamsAtOnce) {
  constexpr int kStreams = 200;
  HttpServerOptions options;
  const auto server = serve(
      [this](const HttpRequest& request) {
        HttpResponse response;
        response.stream = [this, path = request.path](BodyWriter& writer) {
          EXPECT_TRUE(writer.write("begin " + path + "\n"));
          stage_.entered.add();
          EXPECT_TRUE(stage_.entered.reaches(kStreams));
          for (int i = 0; i < 5; ++i) EXPECT_TRUE(writer.write(std::to_string(i) + path + "\n"));
        };
        return response;
      },
      options);
  Clients clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(post("/" + std::to_string(i), "{}", "Connection: close\r\n"));
  }
  for (int i = 0; i < kStreams; ++i) {
    const std::string& reply = clients[static_cast<std::size_t>(i)]->receive_all();
    EXPECT_NE(reply.find("4/" + std::to_string(i) + "\n"), std::string::npos) << reply;
    EXPECT_TRUE(reply.ends_with("\r\n0\r\n\r\n")) << reply;
  }
}

}  // namespace
}  // namespace samovar
