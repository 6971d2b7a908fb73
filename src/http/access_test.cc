#include "http/access.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

Access make(AccessOptions options) { return *Access::create(std::move(options)); }

HttpRequest with(Headers headers, std::string path = "/v1/models", std::string method = "GET") {
  HttpRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.headers = std::move(headers);
  return request;
}

ErrorKind refusal(const Access& access, const HttpRequest& request) {
  const Status status = access.check(request, false);
  return status ? ErrorKind::internal : status.error().kind;
}

// Goal: nothing but this machine gets in without a key. Method: a table of addresses to listen on.
TEST(Access, KeyIsRequiredUnlessOnlyThisMachineCanConnect) {
  for (const char* host : {"127.0.0.1", "127.8.0.1", "localhost", "LOCALHOST", "::1"}) {
    EXPECT_TRUE(Access::create({host, {}, {}}).has_value()) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "192.168.1.5", "localhost.example.com", "myhost"}) {
    const auto refused = Access::create({host, {}, {}});
    ASSERT_FALSE(refused.has_value()) << host;
    EXPECT_EQ(refused.error().field, "--host");
    EXPECT_NE(refused.error().remedy.find("--api-key-file"), std::string::npos);
    EXPECT_TRUE(Access::create({host, {"key"}, {}}).has_value()) << host;
  }
}

// Goal: a page that rebinds its own name to this machine is refused, every honest spelling is not.
TEST(Access, HostMustBeANameOfThisServer) {
  const Access local = make({"127.0.0.1", {}, {"Box.lan"}});
  for (const char* host : {"localhost", "localhost:8080", "LocalHost.:1", "127.0.0.1:9",
                           "[::1]:8080", "[::1]", "box.lan", "BOX.LAN:80"}) {
    EXPECT_TRUE(local.check(with({{"Host", host}}), false).has_value()) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "192.168.0.7", "evil.example:127", "[evil", "0"}) {
    EXPECT_EQ(refusal(local, with({{"Host", host}})), ErrorKind::forbidden) << host;
  }
  EXPECT_EQ(refusal(local, with({})), ErrorKind::forbidden);
  EXPECT_TRUE(local.check(with({}), true).has_value()) << "HTTP/1.0 knows no Host";
  EXPECT_EQ(refusal(local, with({{"Host", "localhost"}, {"host", "evil.example"}})),
            ErrorKind::forbidden);
}

// Goal: a server on all addresses is reachable by any address, still not by any name.
TEST(Access, WildcardServerAcceptsAddressesButNotNames) {
  const Access open = make({"0.0.0.0", {"key"}, {}});
  const Headers key = {{"x-api-key", "key"}};
  Headers by_address = key;
  by_address.emplace_back("Host", "192.168.0.7:8080");
  EXPECT_TRUE(open.check(with(by_address), false).has_value());
  Headers by_name = key;
  by_name.emplace_back("Host", "evil.example");
  EXPECT_EQ(refusal(open, with(by_name)), ErrorKind::forbidden);
}

// Goal: both header forms work, wrong and missing keys do not, /health needs none.
TEST(Access, KeysOpenEverythingButHealthIsAlwaysOpen) {
  const Access access = make({"127.0.0.1", {"alpha", "beta"}, {}});
  const auto keyed = [](std::string name, std::string value) {
    return with({{"Host", "localhost"}, {std::move(name), std::move(value)}});
  };
  EXPECT_TRUE(access.check(keyed("Authorization", "Bearer alpha"), false).has_value());
  EXPECT_TRUE(access.check(keyed("authorization", "bearer beta"), false).has_value());
  EXPECT_TRUE(access.check(keyed("X-Api-Key", "beta"), false).has_value());
  EXPECT_EQ(refusal(access, keyed("Authorization", "Bearer alph")), ErrorKind::unauthorized);
  EXPECT_EQ(refusal(access, keyed("Authorization", "Bearer alphaalpha")), ErrorKind::unauthorized);
  EXPECT_EQ(refusal(access, keyed("Authorization", "Basic alpha")), ErrorKind::unauthorized);
  EXPECT_EQ(refusal(access, keyed("Accept", "*/*")), ErrorKind::unauthorized);
  EXPECT_EQ(refusal(access, keyed("x-api-key", "")), ErrorKind::unauthorized);
  EXPECT_TRUE(access.check(keyed("Authorization", "Bearer  alpha"), false).has_value());
  EXPECT_TRUE(access.check(with({{"Host", "localhost"}}, "/health"), false).has_value());
}

// Goal: what needs no key brings no body and changes nothing. /ready takes no body either.
TEST(Access, OnlyAskingForHealthNeedsNoKey) {
  const Access access = make({"127.0.0.1", {"alpha"}, {}});
  const auto health = [](std::string method, Headers headers = {}, std::string path = "/health") {
    headers.emplace_back("Host", "localhost");
    return with(std::move(headers), std::move(path), std::move(method));
  };
  EXPECT_TRUE(access.check(health("GET"), false).has_value());
  EXPECT_TRUE(access.check(health("HEAD"), false).has_value());
  EXPECT_TRUE(access.check(health("GET", {{"Content-Length", "0"}}), false).has_value());
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(refusal(access, health(method)), ErrorKind::unauthorized) << method;
  }
  for (const char* path : {"/health", "/ready"}) {
    for (Headers body :
         {Headers{{"content-length", "1"}}, Headers{{"Transfer-Encoding", "chunked"}},
          Headers{{"Content-Length", "0"}, {"transfer-encoding", "chunked"}}}) {
      EXPECT_EQ(refusal(access, health("GET", body, path)), ErrorKind::invalid_argument) << path;
      body.emplace_back("x-api-key", "alpha");
      EXPECT_EQ(refusal(access, health("POST", body, path)), ErrorKind::invalid_argument) << path;
    }
  }
}

// Goal: the page needs no key, and nothing beside it does without; the Host check stays.
TEST(Access, OpenPathsAreExact) {
  const Access access = make({"127.0.0.1", {"alpha"}, {}, {"/", "/assets/page.js"}});
  const auto ask = [](std::string path, std::string method = "GET", Headers headers = {}) {
    headers.emplace_back("Host", "localhost");
    return with(std::move(headers), std::move(path), std::move(method));
  };
  for (const char* path : {"/", "/assets/page.js"}) {
    EXPECT_TRUE(access.check(ask(path), false).has_value()) << path;
    EXPECT_TRUE(access.check(ask(path, "HEAD"), false).has_value()) << path;
    EXPECT_EQ(refusal(access, ask(path, "POST")), ErrorKind::unauthorized) << path;
    EXPECT_EQ(refusal(access, ask(path, "DELETE")), ErrorKind::unauthorized) << path;
    EXPECT_EQ(refusal(access, ask(path, "GET", {{"Content-Length", "5"}})),
              ErrorKind::invalid_argument);
    EXPECT_EQ(refusal(access, with({{"Host", "evil.example"}}, path, "GET")), ErrorKind::forbidden);
  }
  for (const char* path :
       {"", "//", "/assets", "/assets/", "/assets/page.js/", "/assets/page.js/x", "/assets/page.JS",
        "/assets/other.js", "/assets/../v1/samovar/state", "/./", "/v1/samovar/state",
        "/v1/samovar/sessions", "/v1/samovar/events", "/v1/samovar/turns"}) {
    EXPECT_EQ(refusal(access, ask(path)), ErrorKind::unauthorized) << path;
  }
}

// Goal: of two headers Bearer counts, and another scheme, a proxy's perhaps, hides no key.
TEST(Access, BothKeyHeadersAtOnce) {
  const Access access = make({"127.0.0.1", {"alpha", "beta"}, {}});
  const auto both = [](std::string authorization, std::string key) {
    return with({{"Host", "localhost"},
                 {"Authorization", std::move(authorization)},
                 {"x-api-key", std::move(key)}});
  };
  EXPECT_TRUE(access.check(both("Bearer alpha", "unknown"), false).has_value());
  EXPECT_EQ(refusal(access, both("Bearer unknown", "alpha")), ErrorKind::unauthorized);
  EXPECT_TRUE(access.check(both("Basic dXNlcg==", "beta"), false).has_value());
}

// Goal: a form on another site cannot make this machine work. Browsers mark such requests.
TEST(Access, CrossSiteFormsAreRefused) {
  const Access access = make({"127.0.0.1", {}, {}});
  const Headers headers = {{"Host", "localhost"}, {"Sec-Fetch-Mode", "no-cors"}};
  EXPECT_EQ(refusal(access, with(headers, "/v1/chat/completions", "POST")), ErrorKind::forbidden);
  EXPECT_TRUE(access.check(with(headers), false).has_value());
  const auto post = [&](const char* name, const char* value) {
    return access.check(
        with({{"Host", "localhost"}, {name, value}}, "/v1/chat/completions", "POST"), false);
  };
  EXPECT_FALSE(post("Sec-Fetch-Site", "cross-site").has_value());
  EXPECT_FALSE(post("Origin", "https://evil.example").has_value());
  EXPECT_FALSE(post("Origin", "null").has_value());
  EXPECT_TRUE(post("Origin", "http://localhost:3000").has_value());
  EXPECT_TRUE(post("Sec-Fetch-Site", "same-origin").has_value());
}

// Goal: a page of another site cannot take the places of those who listen; the server's own can.
TEST(Access, ListenersFromOtherSitesAreRefused) {
  const Access access = make({"127.0.0.1", {}, {}});
  const auto ask = [&](const char* name, const char* value) {
    return access.check(with({{"Host", "localhost"}, {name, value}}, "/v1/samovar/events"), false);
  };
  EXPECT_FALSE(ask("Sec-Fetch-Site", "cross-site").has_value());
  EXPECT_FALSE(ask("Sec-Fetch-Mode", "no-cors").has_value());
  EXPECT_FALSE(ask("Origin", "https://evil.example").has_value());
  EXPECT_TRUE(ask("Sec-Fetch-Site", "same-origin").has_value());
  EXPECT_TRUE(ask("Accept", "text/event-stream").has_value()) << "a client that is no browser";
}

TEST(Access, ComparisonLooksAtAllBytes) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secreT", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secretsecret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("", "secret"));
  EXPECT_FALSE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace samovar
