// Goal: events come out whole whatever the network does to the bytes between them.
#include "client/sse_parser.h"

#include <gtest/gtest.h>

namespace samovar::client {
namespace {

std::vector<std::string> data_of(const std::vector<SseEvent>& events) {
  std::vector<std::string> data;
  for (const SseEvent& event : events) data.push_back(event.data);
  return data;
}

// The stream in two pieces, cut at `at`.
std::vector<std::string> cut_at(const std::string& stream, std::size_t at) {
  SseParser parser;
  std::vector<std::string> data = data_of(parser.push(stream.substr(0, at)));
  for (auto& each : data_of(parser.push(stream.substr(at)))) data.push_back(each);
  for (auto& each : data_of(parser.finish())) data.push_back(each);
  return data;
}

TEST(SseParser, EveryCutGivesTheSameEvents) {
  const std::vector<std::string> expected = {"{\"a\":\"é—😀\"}", "two\nlines", "[DONE]"};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string stream = ": keepalive" + end + end + "data: {\"a\":\"é—😀\"}" + end + end +
                               "event: x" + end + "data:two" + end + "data: lines" + end + "id: 4" +
                               end + end + ":" + end + "data: [DONE]" + end + end;
    for (std::size_t at = 0; at <= stream.size(); ++at) {
      EXPECT_EQ(cut_at(stream, at), expected) << at;
    }
    SseParser bytewise;
    std::vector<std::string> data;
    for (const char byte : stream) {
      for (auto& each : data_of(bytewise.push({&byte, 1}))) data.push_back(each);
    }
    EXPECT_EQ(data, expected);
  }
}

TEST(SseParser, NamesEventsAndSkipsAByteOrderMark) {
  SseParser parser;
  const auto events = parser.push(
      "\xEF\xBB\xBF"
      "event: error\ndata: {}\n\nevent: none\n\n");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name, "error");
}

TEST(SseParser, TheLastEventMayLackItsEnd) {
  SseParser parser;
  EXPECT_TRUE(parser.push("data: [DONE]").empty());
  EXPECT_EQ(data_of(parser.finish()), std::vector<std::string>{"[DONE]"});
  EXPECT_TRUE(parser.finish().empty());
}

}  // namespace
}  // namespace samovar::client
