// Goal: the ledger is told as it is, page by page, and bad questions name what is wrong with them.
#include "api/turns_api.h"

#include <nlohmann/json.hpp>

#include "api/query.h"
#include "api/turn_headers.h"
#include "base/executor.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

class TurnsApiTest : public ::testing::Test {
 protected:
  TurnRecord add(const std::string& id, const std::string& session, bool text = false,
                 const std::string& dialect = "chat.completions") {
    TurnRecord turn;
    turn.id = id;
    turn.session = session;
    turn.dialect = dialect;
    turn.keep_text = text;
    if (text) turn.request = R"({"messages":[{"role":"user","content":"asked"}]})";
    const auto live = ledger->begin(turn);
    live->on_token(5);
    live->on_event(TurnFinished{});
    live->update([&](TurnRecord& record) {
      record.finish = "stop";
      if (text) record.message = R"({"role":"assistant","content":"said"})";
      Explanation miss;
      miss.cause = Cause::unique_id;
      miss.title = "An id changed";
      miss.first.emplace();
      miss.first->old_text = "secret-old";
      record.miss = miss;
    });
    live->close(clock.wall_seconds());
    return live->record();
  }
  HttpRequest request(const std::string& method, const std::string& path,
                      const std::string& query = "") {
    HttpRequest made;
    made.method = method;
    made.path = path;
    made.query = query;
    return made;
  }
  Json turns(const std::string& rest, const std::string& query = "") {
    const auto response = api.turns(request("GET", "/v1/samovar/turns" + rest, query), rest);
    status = response.status;
    return Json::parse(response.body);
  }

  FakeClock clock;
  std::unique_ptr<Ledger> ledger = Ledger::open({}, clock);
  ThreadPool background{1, "test"};
  TurnRecords records{
      {.ledger = *ledger,
       .clock = clock,
       .background = background,
       .model = "m",
       .model_name = "m",
       .template_id = "t",
       .read_reply = [](const SavedSyntax&, TokenSpan) -> std::optional<ChatMessage> {
         ChatMessage message{.role = Role::assistant};
         message.content = "read from tokens";
         return message;
       }}};
  TurnsApi api{records};
  int status = 0;
};

TEST_F(TurnsApiTest, ListsNewestFirstPageByPage) {
  for (int i = 0; i < 5; ++i) add(std::to_string(i), i < 3 ? "one" : "two");
  Json page = turns("", "limit=2");
  ASSERT_EQ(page["data"].size(), 2U);
  EXPECT_EQ(page["data"][0]["id"], "4");
  EXPECT_TRUE(page["has_more"]);
  page = turns("", "limit=3&before=3");
  ASSERT_EQ(page["data"].size(), 3U);
  EXPECT_EQ(page["data"][0]["id"], "2");
  EXPECT_FALSE(page["has_more"]);
  EXPECT_EQ(turns("", "session=one")["data"].size(), 3U);
  EXPECT_EQ(turns("", "status=incomplete")["data"].size(), 0U);
}

TEST_F(TurnsApiTest, OneTurnHasItsReplyAndTextOnlyIfKept) {
  add("silent", "s");
  add("open", "s", true);
  Json turn = turns("/silent");
  EXPECT_EQ(turn["status"], "complete");
  EXPECT_EQ(turn["reply"]["content"], "read from tokens");
  EXPECT_EQ(turn["request"], nullptr);
  EXPECT_EQ(turn["miss"]["class"], "unique_id");
  EXPECT_EQ(turn.dump().find("secret-old"), std::string::npos);
  turn = turns("/open");
  EXPECT_EQ(turn["reply"]["content"], "said");
  EXPECT_EQ(turn["request"]["messages"][0]["content"], "asked");
  turns("/none");
  EXPECT_EQ(status, 404);
}

TEST_F(TurnsApiTest, TheExplanationShowsTextsToItsOwner) {
  add("a", "s");
  const Json why = turns("/a/explain");
  EXPECT_EQ(why["id"], "a");
  EXPECT_EQ(why["class"], "unique_id");
  EXPECT_EQ(why["first_difference"]["old"], "secret-old");
  turns("/none/explain");
  EXPECT_EQ(status, 404);
}

TEST_F(TurnsApiTest, StoredCompletionsAreThoseWithText) {
  add("silent", "s");
  add("open", "s", true);
  add("resp_1", "s", true, "responses");
  const auto get = [&](const std::string& id) {
    return api.completions(request("GET", "/v1/chat/completions/" + id), id);
  };
  EXPECT_EQ(get("silent").status, 404);
  EXPECT_EQ(get("resp_1").status, 404) << "that is no completion";
  const Json kept = Json::parse(get("open").body);
  EXPECT_EQ(kept["object"], "chat.completion");
  EXPECT_EQ(kept["choices"][0]["message"]["content"], "said");
  EXPECT_EQ(kept["choices"][0]["finish_reason"], "stop");
  const Json list = Json::parse(api.completions(request("GET", "/v1/chat/completions"), "").body);
  EXPECT_EQ(list["data"].size(), 1U);
  const Json gone =
      Json::parse(api.completions(request("DELETE", "/v1/chat/completions/open"), "open").body);
  EXPECT_TRUE(gone["deleted"]);
  EXPECT_EQ(get("open").status, 404);
}

TEST_F(TurnsApiTest, DeletesTurnsAndSessions) {
  add("a", "mine");
  add("b", "mine");
  EXPECT_EQ(api.turns(request("DELETE", "/v1/samovar/turns/a"), "/a").status, 200);
  EXPECT_EQ(api.turns(request("DELETE", "/v1/samovar/turns/a"), "/a").status, 404);
  const auto purged = api.session(request("DELETE", "/v1/samovar/sessions/mine"), "mine");
  EXPECT_EQ(Json::parse(purged.body)["turns"], 1);
  EXPECT_EQ(turns("")["data"].size(), 0U);
  EXPECT_EQ(api.session(request("GET", "/v1/samovar/sessions/mine"), "mine").status, 405);
  EXPECT_EQ(api.turns(request("PUT", "/v1/samovar/turns/a"), "/a").status, 405);
}

TEST_F(TurnsApiTest, BadQueriesNameTheParameter) {
  for (const auto& [query, field] :
       std::vector<std::pair<std::string, std::string>>{{"limit=0", "limit"},
                                                        {"limit=1001", "limit"},
                                                        {"limit=1x", "limit"},
                                                        {"limit=", "limit"},
                                                        {"status=gone", "status"}}) {
    const Json error = turns("", query);
    EXPECT_EQ(status, 400) << query;
    EXPECT_EQ(error["error"]["param"], field);
  }
}

TEST(Query, DecodesAndTakesTheLastValue) {
  const Query query("a=1&b=x%20y+z&a=2&c&%64=%zz&e=%");
  EXPECT_EQ(query.find("a"), "2");
  EXPECT_EQ(query.find("b"), "x y z");
  EXPECT_EQ(query.find("c"), "");
  EXPECT_EQ(query.find("d"), "%zz");
  EXPECT_EQ(query.find("e"), "%");
  EXPECT_EQ(query.find("f"), std::nullopt);
  EXPECT_EQ(Query("").find(""), std::nullopt);
}

TEST(TurnHeaders, TellTheMissWithoutTextAndNothingThatBreaksAHeader) {
  TurnReport report;
  report.id = "chatcmpl-1";
  report.session = "bad\r\nx-injected: 1";
  Explanation miss;
  miss.cause = Cause::tool_schema_changed;
  miss.tokens_lost = 512;
  miss.seconds_lost = 1.25;
  miss.first.emplace();
  miss.first->field = "tools[0].parameters";
  miss.first->tool = "re\"ad\n";
  miss.first->old_text = "secret";
  report.miss = miss;
  Headers headers;
  add_turn_headers(report, TurnStarted{.prompt_tokens = 10, .reused_tokens = 4}, headers);
  const std::string* value = find_header(headers, "x-samovar-miss");
  ASSERT_NE(value, nullptr);
  EXPECT_TRUE(value->starts_with("tool_schema_changed; tokens=512; seconds=1.250; where=\""))
      << *value;
  EXPECT_EQ(*find_header(headers, "x-samovar-reused-tokens"), "4");
  for (const auto& [name, text] : headers) {
    EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos) << name;
    EXPECT_EQ(text.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace samovar
