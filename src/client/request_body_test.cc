// Goal: a request's prompt is a pure function of the conversation, and grows at its end only.
#include "client/request_body.h"

#include <gtest/gtest.h>

#include "client/transfer.h"

namespace samovar::client {
namespace {

History small() {
  History history;
  history.system = "Sys";
  history.messages = {{.user = true, .content = "Hi"},
                      {.content = "Yes", .reasoning = "so\n"},
                      {.user = true, .content = "Go"}};
  return history;
}

TEST(RequestBody, IsInOneOrderWithNothingVolatile) {
  RequestSettings settings;
  settings.model = "m";
  settings.session = "calm-river-7f3a";
  settings.thinking = false;
  settings.max_tokens = 5;
  settings.temperature = 0;
  EXPECT_EQ(
      request_body(small(), settings, {}),
      R"({"model":"m","messages":[{"role":"system","content":"Sys"},)"
      R"({"role":"user","content":"Hi"},)"
      R"({"role":"assistant","content":"Yes","reasoning_content":"so\n"},)"
      R"({"role":"user","content":"Go"}],"stream":true,"stream_options":{"include_usage":true},)"
      R"("return_progress":true,"prompt_cache_key":"calm-river-7f3a","max_tokens":5,)"
      R"("temperature":0.0,"chat_template_kwargs":{"enable_thinking":false}})");
}

TEST(RequestBody, MessagesGrowAtTheirEndOnly) {
  History history = small();
  std::string before = messages_json(history, true);
  before.pop_back();
  history.messages.push_back({.content = "cut", .cut = true});
  EXPECT_TRUE(messages_json(history, true).starts_with(before));
}

TEST(RequestBody, LeavesOutWhatAServerRefused) {
  RequestSettings settings;
  settings.session = "s";
  settings.max_tokens = 5;
  settings.thinking = true;
  const LeftOut all = {"return_progress",      "prompt_cache_key",  "stream_options",
                       "chat_template_kwargs", "reasoning_content", "max_tokens"};
  EXPECT_EQ(request_body({.messages = {{.content = "a", .reasoning = "b"}}}, settings, all),
            R"({"messages":[{"role":"assistant","content":"a"}],"stream":true,)"
            R"("max_completion_tokens":5})");
}

TEST(RequestBody, KnowsWhichFieldARefusalIsAbout) {
  RequestSettings settings;
  settings.max_tokens = 5;
  EXPECT_EQ(
      refused_field(400, "Unrecognized request argument supplied: return_progress", settings, {}),
      "return_progress");
  EXPECT_EQ(refused_field(400, "'max_tokens' is not supported: use 'max_completion_tokens'",
                          settings, {}),
            "max_tokens");
  EXPECT_EQ(refused_field(422, "extra field prompt_cache_key", settings, {"prompt_cache_key"}),
            std::nullopt)
      << "not twice";
  EXPECT_EQ(refused_field(500, "return_progress", settings, {}), std::nullopt);
  EXPECT_EQ(refused_field(400, "context too long", settings, {}), std::nullopt);
}

TEST(History, FindsMessagesOfTheUserFromTheEnd) {
  const History history = small();
  EXPECT_EQ(history.user_message(1), 2U);
  EXPECT_EQ(history.user_message(2), 0U);
  EXPECT_EQ(history.user_message(3), std::nullopt);
  EXPECT_EQ(history.user_message(0), std::nullopt);
  EXPECT_TRUE(history.pending());
  EXPECT_FALSE(History{}.pending());
}

TEST(BaseUrl, TakesWhatPeopleWrite) {
  for (const char* url : {"http://h:1", "h:1", "http://h:1/", "http://h:1/v1", "h:1/v1//"}) {
    EXPECT_EQ(base_url(url), "http://h:1") << url;
  }
  EXPECT_EQ(base_url("https://x.ai/api/v1"), "https://x.ai/api");
}

TEST(Refusal, NamesTheRemedy) {
  const auto remedy = [](int status, const char* body, const char* wait = "") {
    const Error error = refusal(status, body, "http://h", wait);
    return error.message + "|" + error.remedy;
  };
  EXPECT_NE(remedy(401, R"({"error":{"message":"no key"}})").find("no key|give the"),
            std::string::npos);
  EXPECT_NE(remedy(429, "", "7").find("wait 7 s"), std::string::npos);
  EXPECT_NE(remedy(404, "").find("the server answered 404|is http://h the address"),
            std::string::npos);
  EXPECT_NE(remedy(302, "").find("another address"), std::string::npos);
  EXPECT_NE(remedy(400, "context length exceeded").find("/new"), std::string::npos);
  EXPECT_NE(remedy(200, "<html>").find("web page"), std::string::npos);
}

}  // namespace
}  // namespace samovar::client
