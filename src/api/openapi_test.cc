// Goal: docs/openapi.json tells what is served, no more and no less, and every field of a request
// that it names is one that is read. Method: its paths are compared with the router's table; each
// field is sent with a value of a wrong type, which must be refused by the field's name.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "api/api_doubles.h"
#include "api/router.h"
#include "base/executor.h"
#include "tests/support/manual_executor.h"

namespace samovar {
namespace {

using test::Json;

class OpenApiTest : public testing::Test {
 protected:
  OpenApiTest() {
    std::ifstream file(std::string(SAMOVAR_SOURCE) + "/docs/openapi.json");
    doc_ = Json::parse(file);
  }

  // The schema itself, where it is a reference.
  Json resolved(const Json& schema) const {
    constexpr std::string_view kPrefix = "#/components/schemas/";
    if (!schema.contains("$ref")) return schema;
    return doc_["components"]["schemas"][schema["$ref"].get<std::string>().substr(kPrefix.size())];
  }

  HttpResponse ask(const std::string& method, const std::string& path, const Json& body) {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body.dump();
    return router_.handle(request);
  }

  Json doc_;
  FakeClock clock_;
  std::unique_ptr<Ledger> ledger_ = Ledger::open({}, clock_);
  ThreadPool threads_{1, "test"};
  TurnRecords records_{
      {.ledger = *ledger_,
       .clock = clock_,
       .background = threads_,
       .model = "m",
       .model_name = "m",
       .template_id = "t",
       .read_reply = [](const SavedSyntax&, TokenSpan) { return std::optional<ChatMessage>(); }}};
  test::FakeChat chat_;
  test::FakeTurns turns_;
  TurnRunner runner_{chat_, turns_, &records_, clock_, {}, {.poll = 0, .headers = 0}};
  ChatCompletions completions_{runner_, "m"};
  MessagesApi messages_{runner_, "m"};
  TextApi text_{runner_, "m"};
  ManualExecutor executor_;
  BackgroundReplies background_{executor_};
  ResponsesApi responses_{runner_, background_, "m"};
  Models models_{{.id = "m"}};
  TurnsApi turns_api_{records_};
  PageApi page_{{.records = records_,
                 .clock = clock_,
                 .facts = {},
                 .ready = [] { return true; },
                 .figures = [] { return SchedulerFigures{}; },
                 .rss_bytes = [] { return std::uint64_t{0}; },
                 .look = [] { return nullptr; },
                 .store_stats = [] { return std::nullopt; },
                 .store_picture = [] { return StorePicture{}; }}};
  Router router_{{completions_, messages_, responses_, text_, &turns_api_, models_,
                  [] { return true; }, &page_}};
};

TEST_F(OpenApiTest, ItsPathsAreTheRouters) {
  std::set<std::string> documented;
  for (const auto& [path, operations] : doc_["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      std::string upper = method;
      std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
      documented.insert(upper + " " + path);
      EXPECT_TRUE(operation.contains("summary") && operation.contains("responses")) << path;
    }
  }
  const auto served = router_.endpoints();
  EXPECT_EQ(documented, std::set<std::string>(served.begin(), served.end()));
}

// A value that a field of this schema cannot have; null: any value may be right.
Json wrong_value(const Json& schema) {
  if (schema.contains("anyOf")) return nullptr;
  const std::string type = schema.value("type", "");
  if (type == "string" || type == "array" || type == "object" || type == "boolean") return 7;
  return type == "integer" || type == "number" ? Json("seven") : Json();
}

TEST_F(OpenApiTest, EveryFieldOfARequestIsRead) {
  const Json messages = Json::parse(R"([{"role":"user","content":"x"}])");
  int fields = 0;
  for (const auto& [path, operations] : doc_["paths"].items()) {
    if (!operations.contains("post") || !operations["post"].contains("requestBody")) continue;
    // A turn to continue would be looked for first.
    if (path.find('{') != std::string::npos) continue;
    const Json schema =
        resolved(operations["post"]["requestBody"]["content"]["application/json"]["schema"]);
    for (const auto& [name, field] : schema["properties"].items()) {
      const Json wrong = wrong_value(field);
      if (wrong.is_null()) continue;
      Json body = Json::object();
      for (const Json& required : schema.value("required", Json::array())) {
        body[required.get<std::string>()] = required == "messages" ? messages
                                            : required == "tokens" ? Json::array({1})
                                                                   : Json("x");
      }
      if (path == "/tokenize" && name != "content") body["content"] = "x";
      body[name] = wrong;
      const HttpResponse response = ask("POST", path, body);
      EXPECT_EQ(response.status, 400) << path << " " << body << "\n" << response.body;
      EXPECT_NE(response.body.find(name), std::string::npos) << path << " " << response.body;
      ++fields;
    }
  }
  EXPECT_GT(fields, 80);
}

}  // namespace
}  // namespace samovar
