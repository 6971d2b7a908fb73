#include "http/request_scan.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

constexpr RequestBounds kSmall = {.head_bytes = 100, .held_bytes = 500, .body_bytes_max = 300};

// What is said of each prefix of `request`, as one letter: h(ead), b(ody), r(eady), o(versize).
std::string told(std::string_view request, RequestBounds bounds = {}) {
  RequestScan scan(bounds);
  std::string result;
  for (std::size_t size = 1; size <= request.size(); ++size) {
    result += "hbro"[static_cast<int>(scan.look(request.substr(0, size)))];
  }
  return result;
}

// The size at which `request` is ready, looked at byte by byte; it must be ready at once as well.
std::size_t ready_at(const std::string& request, RequestBounds bounds = {}) {
  RequestScan once(bounds);
  EXPECT_EQ(once.look(request), Arrival::ready) << request;
  return told(request, bounds).find('r') + 1;
}

struct Ready {
  std::string upto;    // ready with its last byte
  std::string behind;  // what may follow
};

// Goal: a request is ready with its very last byte, neither before nor after. Method: byte by byte.
TEST(RequestScan, IsReadyWithTheLastByte) {
  const std::string post = "POST /p HTTP/1.1\r\nHost: localhost\r\n";
  const std::string chunked = post + "transfer-encoding:\tChunked\r\n\r\n";
  const std::vector<Ready> table = {
      {"GET / HTTP/1.1\r\n\r\n", "GET"},
      {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ""},
      {post + "\r\n", "no body without a length"},
      {post + "Content-Length: 0\r\n\r\n", "x"},
      {post + "content-LENGTH:  12 \r\n\r\nabc\r\n\r\nefgh.", "GET"},
      {chunked + "0\r\n\r\n", "x"},
      {chunked + "3\r\nabc\r\n0\r\n\r\n", "x"},
      {chunked + "7;name=value\r\n0\r\n\r\n..\r\nA\r\n0123456789\r\n0\r\nA: b\r\nC: d\r\n\r\n",
       "G"},
      {chunked + "not a number\r\n", "refused by the parser"},
      {chunked + "ffffffffffffffffff\r\n", "likewise"},
      {post + "Expect: 100-continue\r\nContent-Length: 12\r\n\r\n", ""},
      {post + "Content-Length: twelve\r\n\r\n", "likewise"},
      {post + "Content-Length: -1\r\n\r\n", "likewise"},
      {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "likewise"},
      {post + "Transfer-Encoding: gzip\r\n\r\n", "likewise"},
      {post + "no colon\r\nContent-Length: 5\r\n\r\n", "likewise"},
      {"nonsense\r\n\r\n", ""},
  };
  for (const Ready& ready : table) {
    EXPECT_EQ(ready_at(std::string(ready.upto).append(ready.behind)), ready.upto.size())
        << ready.upto;
    EXPECT_EQ(told(ready.upto).find('o'), std::string::npos) << ready.upto;
  }
}

// Goal: head and body are told apart, for their deadlines differ.
TEST(RequestScan, TellsHeadFromBody) {
  EXPECT_EQ(told("P / H\r\nContent-Length: 3\r\n\r\nabc"), "hhhhhhhhhhhhhhhhhhhhhhhhhhhbbbr");
}

// Goal: what exceeds a bound is not waited for.
TEST(RequestScan, BoundsEndTheWait) {
  const std::string line = "GET /" + std::string(200, 'p');
  EXPECT_EQ(told(line, kSmall).find('o'), 100U);
  RequestScan once(kSmall);
  EXPECT_EQ(once.look(line + " HTTP/1.1\r\n\r\n"), Arrival::oversize);
  const std::string head = "P / H\r\nContent-Length: 301\r\n\r\n";
  EXPECT_EQ(ready_at(head + "a", kSmall), head.size()) << "the parser refuses it";
  const std::string chunked = "P / H\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n";
  EXPECT_EQ(ready_at(chunked + std::string(600, 'x'), kSmall), 500U);
}

TEST(RequestScan, RestartsForTheNextRequest) {
  RequestScan scan{RequestBounds()};
  EXPECT_EQ(scan.look("GET / HTTP/1.1\r\n\r\n"), Arrival::ready);
  scan.restart();
  EXPECT_EQ(scan.look("GET / HTTP/1.1\r\n"), Arrival::head);
}

TEST(RequestScan, PathIsThatOfTheFirstLine) {
  EXPECT_EQ(path_of("POST /v1/messages?beta=true HTTP/1.1\r\nA: b"), "/v1/messages");
  EXPECT_EQ(path_of("GET /a"), "/a");
  EXPECT_EQ(path_of("GET"), "");
  EXPECT_EQ(path_of("GET\r\nA: b c"), "");
  EXPECT_TRUE(is_probe("GET /health HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(is_probe("GET /healthy HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(is_probe("POST /health HTTP/1.1\r\n\r\n"));
}

}  // namespace
}  // namespace samovar
