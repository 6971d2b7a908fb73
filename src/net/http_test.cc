// Goal: an address is taken apart as libcurl does, a head is read as it comes, and one GET with its
// redirects tells its failures apart. Method: tables, and a hub on this machine.
#include <gtest/gtest.h>

#include "net/http_get.h"
#include "net/http_head.h"
#include "net/url.h"
#include "tests/support/fake_hub.h"

namespace samovar::net {
namespace {

using samovar::testing::FakeHub;

TEST(Url, HostAndOrigin) {
  EXPECT_EQ(host_of("https://user:pw@example.org:8443/a@b?c"), "example.org");
  EXPECT_EQ(host_of("http://[::1]:80/x"), "::1");
  EXPECT_EQ(origin_of("HTTPS://Example.org/x"), "https://example.org:443");
  EXPECT_EQ(origin_of("http://[::1]:8080"), "http://::1:8080");
  EXPECT_EQ(origin_of("http://a"), "http://a:80");
  EXPECT_NE(origin_of("https://a"), origin_of("http://a"));
  EXPECT_EQ(origin_of("ftp://a/x"), "");
  EXPECT_EQ(origin_of("example.org"), "");
  EXPECT_EQ(origin_of(""), "");
}

TEST(Url, WhatIsThisMachine) {
  for (const char* url :
       {"http://localhost:1/x", "http://127.0.0.1", "http://127.9.8.7:1/x", "http://[::1]:5"}) {
    EXPECT_TRUE(is_local(url)) << url;
  }
  for (const char* url :
       {"http://localhost.example.org", "http://10.0.0.1", "https://127x@evil",
        "http://127.attacker.example", "http://127.0.0.1.evil.example:80/x", "http://127.evil"}) {
    EXPECT_FALSE(is_local(url)) << url;
  }
}

TEST(Url, PathsAreEscaped) {
  EXPECT_EQ(escape_path("a b/c#d?e%f/\xC3\xA9.gguf"), "a%20b/c%23d%3Fe%25f/%C3%A9.gguf");
}

TEST(HttpHead, ReadsLinesAndForgetsTheHeadBefore) {
  HttpHead head;
  EXPECT_FALSE(head.add_line("HTTP/1.1 100 Continue\r\n"));
  EXPECT_FALSE(head.add_line("X-Old: 1\r\n"));
  EXPECT_FALSE(head.add_line("\r\n"));
  EXPECT_FALSE(head.add_line("HTTP/1.1 206 Partial Content\r\n"));
  EXPECT_FALSE(head.add_line("ETag:  \"a b\" \r\n"));
  EXPECT_FALSE(head.add_line("no colon\r\n"));
  EXPECT_TRUE(head.add_line("\r\n"));
  EXPECT_EQ(head.status(), 206);
  EXPECT_EQ(head.header("etag"), "\"a b\"");
  EXPECT_EQ(head.header("x-old"), "");
}

class HttpGetTest : public ::testing::Test {
 protected:
  void SetUp() override { hub_.put("x.gguf", std::string(100'000, 'x')); }
  [[nodiscard]] GetRequest request() {
    return {.url = hub_.url() + "/test/tiny/resolve/" + hub_.commit() + "/x.gguf",
            .bearer = "secret",
            .stall = kSecond};
  }
  GetHooks hooks() {
    return {.on_head = [](const HttpHead& head) { return head.status() == 200; },
            .on_body =
                [this](Bytes bytes) {
                  body_ += bytes.size();
                  return true;
                },
            .stop = [] { return false; }};
  }
  FakeHub hub_;
  std::size_t body_ = 0;
};

TEST_F(HttpGetTest, FollowsAndKeepsWhatTheRedirectSaid) {
  const auto answer = http_get(request(), hooks());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->head.status(), 200);
  ASSERT_EQ(answer->hops.size(), 1U);
  EXPECT_EQ(answer->hops[0].header("x-repo-commit"), hub_.commit());
  EXPECT_NE(origin_of(answer->url), origin_of(hub_.url()));
  EXPECT_EQ(body_, 100'000U) << "the redirect's own body is not part of it";
  ASSERT_EQ(hub_.requests().size(), 2U);
  EXPECT_EQ(hub_.requests()[0].header("Authorization"), "Bearer secret");
  EXPECT_EQ(hub_.requests()[1].header("Authorization"), "");
}

TEST_F(HttpGetTest, StatusIsNoFailureAndItsBodyIsNotTaken) {
  auto asked = request();
  asked.url += ".no";
  const auto answer = http_get(asked, hooks());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.status(), 404);
  EXPECT_EQ(answer->head.header("x-error-code"), "EntryNotFound");
  EXPECT_EQ(body_, 0U);
}

TEST_F(HttpGetTest, FailuresAreToldApart) {
  const auto fault = [&](const GetRequest& asked, const GetHooks& how) {
    const auto answer = http_get(asked, how);
    EXPECT_FALSE(answer);
    return answer ? GetFault::stopped : answer.error().fault;
  };
  hub_.fail_content({.drop_after = 10});
  EXPECT_EQ(fault(request(), hooks()), GetFault::broken);
  hub_.fail_content({.drop_after = 10, .stall = true});
  EXPECT_EQ(fault(request(), hooks()), GetFault::broken);
  auto stopping = hooks();
  stopping.stop = [] { return true; };
  EXPECT_EQ(fault(request(), stopping), GetFault::stopped);
  auto refusing = hooks();
  refusing.on_body = [](Bytes) { return false; };
  EXPECT_EQ(fault(request(), refusing), GetFault::stopped);
  EXPECT_EQ(fault({.url = "file:///etc/hostname"}, hooks()), GetFault::bad_address);
  auto asked = request();
  hub_.stop();
  EXPECT_EQ(fault(asked, hooks()), GetFault::unreachable);
}

}  // namespace
}  // namespace samovar::net
