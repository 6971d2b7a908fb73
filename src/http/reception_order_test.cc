// Who is served first when threads are few: a Reception over real sockets whose threads are played
// by the test, and the whole server.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_doubles.h"
#include "http/reception.h"

namespace samovar {
namespace {

using testing::get;
using testing::RawClient;
using testing::serve;
using Names = std::vector<std::string>;

// What happened in which order, for threads that wait for it.
class Log {
 public:
  void add(std::string name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(std::move(name));
    changed_.notify_all();
  }
  bool reaches(std::string_view name, int times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return std::ranges::count(names_, name) >= times; });
  }
  Names names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Names names_;
};

// Goal: of two requests on kept connections the one that waits is served before the one that came
// in behind the reply that just ended, although that one's connection is at hand.
TEST(ReceptionOrder, PipelinedRequestsDoNotOvertake) {
  Log entered;
  Log released;
  HttpServerOptions options;
  options.threads = 1;
  const auto server = serve(
      [&](const HttpRequest& request) {
        entered.add(request.path);
        EXPECT_TRUE(request.path != "/running" || released.reaches("running"));
        return testing::echo(request);
      },
      options);
  RawClient pipelining(server->port());
  pipelining.send(get("/running", "Host: localhost\r\n", "") + get("/pipelined"));
  ASSERT_TRUE(entered.reaches("/running"));
  RawClient waiting(server->port());
  waiting.send(get("/waiting"));
  // Once probes that came later are answered, in later rounds, /waiting has been taken in.
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(testing::ask(*server, get("/health")).find("200 OK"), std::string::npos);
  }
  released.add("running");
  EXPECT_TRUE(waiting.receive_all().ends_with("GET /waiting  ")) << waiting.received();
  EXPECT_TRUE(pipelining.receive_all().ends_with("GET /pipelined  ")) << pipelining.received();
  EXPECT_EQ(entered.names(), (Names{"/running", "/health", "/health", "/waiting", "/pipelined"}));
}

// A reception whose threads are two numbers that the test sets: free ones, and free ones for
// probes.
class PlayedThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listening, general, size), 0);
    ASSERT_EQ(::listen(listening, 16), 0);
    ASSERT_EQ(::getsockname(listening, general, &size), 0);
    port_ = ntohs(address.sin_port);
    reception_.emplace(listening, ReceptionOptions(),
                       [this](auto& c, bool overtakes) { return take(c, overtakes); });
    reception_->start();
  }

  bool take(std::unique_ptr<Connection>& connection, bool overtakes) {
    const std::string path(path_of(connection->buffered()));
    const bool probe = is_probe(connection->buffered());
    std::atomic<int>& threads = probe ? probe_threads_ : threads_;
    const bool taken = threads > 0 && (probe || !overtakes);
    if (taken) {
      --threads;
      taken_.push_back(std::move(connection));
      served_.add(path);
    }
    offered_.add(path + (overtakes ? " overtaking" : ""));
    return taken;
  }

  int port_ = 0;
  std::atomic<int> threads_ = 0;
  std::atomic<int> probe_threads_ = 0;
  Log offered_;
  Log served_;
  std::vector<std::unique_ptr<Connection>> taken_;  // the reception's thread only
  std::optional<Reception> reception_;
};

// Goal: a request that is complete just when a thread gets free does not overtake those that wait.
// Method: the thread gets free while the reception sleeps; the new request is what wakes it.
TEST_F(PlayedThreads, NewRequestsDoNotOvertake) {
  RawClient newer(port_);
  const std::string request = get("/newer");
  newer.send(request.substr(0, request.size() - 1));
  RawClient waiting(port_);
  waiting.send(get("/waiting"));
  ASSERT_TRUE(offered_.reaches("/waiting", 2)) << "at once, and before the reception sleeps";
  threads_ = 2;
  newer.send(request.substr(request.size() - 1));
  ASSERT_TRUE(served_.reaches("/newer"));
  EXPECT_EQ(served_.names(), (Names{"/waiting", "/newer"}));
}

// Goal: a probe that had to wait is served before what waits longer, once a thread for probes is
// free; nothing else leaves its place.
TEST_F(PlayedThreads, ProbesBehindTheFrontAreFound) {
  RawClient first(port_);
  first.send(get("/first"));
  ASSERT_TRUE(offered_.reaches("/first"));
  RawClient second(port_);
  second.send(get("/second"));
  ASSERT_TRUE(offered_.reaches("/second overtaking"));
  RawClient probe(port_);
  probe.send(get("/health"));
  ASSERT_TRUE(offered_.reaches("/health overtaking"));
  probe_threads_ = 1;
  const RawClient waking(port_);
  ASSERT_TRUE(served_.reaches("/health"));
  EXPECT_EQ(served_.names(), Names{"/health"});
  threads_ = 2;
  const RawClient waking_again(port_);
  ASSERT_TRUE(served_.reaches("/second"));
  EXPECT_EQ(served_.names(), (Names{"/health", "/first", "/second"}));
}

}  // namespace
}  // namespace samovar
