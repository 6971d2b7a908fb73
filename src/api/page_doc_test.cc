// Goal: docs/page-api.md and docs/openapi.json name the fields that are sent, no more and no less.
// Method: everything is made once with every part present; its fields are compared with those of
// the examples in the one and of the schemas in the other.
#include <fstream>
#include <iterator>
#include <set>

#include "api/page_testing.h"

namespace samovar {
namespace {

using test::Json;
using Fields = std::set<std::string>;

// "server.version", "nodes[].disk.bytes"; what may have any names is one field.
void add_fields(const Json& json, const std::string& path, Fields& fields) {
  if (json.is_array() && !json.empty()) return add_fields(json[0], path + "[]", fields);
  if (!json.is_object()) return;
  for (const auto& [name, value] : json.items()) {
    const std::string field = path.empty() ? name : path + "." + name;
    fields.insert(field);
    if (name != "options") add_fields(value, field, fields);
  }
}
Fields fields_of(const Json& json) {
  Fields fields;
  add_fields(json, "", fields);
  return fields;
}

class PageDocTest : public test::PageFixture {
 protected:
  PageDocTest() {
    const std::string docs = std::string(SAMOVAR_SOURCE) + "/docs/";
    std::ifstream page(docs + "page-api.md");
    text_.assign(std::istreambuf_iterator<char>(page), {});
    std::ifstream openapi(docs + "openapi.json");
    openapi_ = Json::parse(openapi);
  }

  // The first example of the document that is of this kind.
  Json example(const std::string& begins) const {
    constexpr std::string_view kFence = "```json\n";
    for (std::size_t at = 0; (at = text_.find(kFence, at)) != std::string::npos;) {
      at += kFence.size();
      const std::string json = text_.substr(at, text_.find("```", at) - at);
      if (json.find(begins) < 20) return Json::parse(json);
    }
    ADD_FAILURE() << "no example of " << begins;
    return {};
  }

  void add_schema(Json schema, const std::string& path, Fields& fields) const {
    constexpr std::string_view kPrefix = "#/components/schemas/";
    if (schema.contains("$ref")) {
      const auto name = schema["$ref"].get<std::string>().substr(kPrefix.size());
      schema = Json(openapi_["components"]["schemas"][name]);
    }
    if (schema.contains("items")) return add_schema(schema["items"], path + "[]", fields);
    if (!schema.contains("properties")) return;
    EXPECT_EQ(schema["required"].size(), schema["properties"].size()) << path;
    for (const auto& [name, value] : schema["properties"].items()) {
      const std::string field = path.empty() ? name : path + "." + name;
      fields.insert(field);
      add_schema(value, field, fields);
    }
  }
  Fields schema(const std::string& name) const {
    Fields fields;
    add_schema(openapi_["components"]["schemas"][name], "", fields);
    return fields;
  }

  // A turn with everything that can be known of it while it runs.
  void run_a_turn() {
    finish(*begin("t0", "mine"));
    turn_ = begin("t1", "mine");
    turn_->on_event(started(5, 2, "mine"));
    turn_->started(started(5, 2, "mine"));
  }
  void fill_memory_and_store() {
    auto memory = std::make_shared<ResidentPicture>();
    HeldSequence held{.sequence = 1, .tokens = {1, 2, 3}, .cells = {{1, 3}}};
    held.anchors.push_back({2, AnchorKind::system, 5, 50});
    memory->sequences.push_back(held);
    memory_ = memory;
    store_.needs_snapshot = true;
    const Identity place = identity_of({}, {}, TokenSpan(held.tokens).first(2));
    store_.places.push_back({.identity = place, .begin = 0, .end = 2, .bytes = 1});
    store_.evict_next = {place};
  }

  std::string text_;
  Json openapi_;
  std::shared_ptr<TurnRecorder> turn_;
};

TEST_F(PageDocTest, State) {
  stats_.emplace();
  Json sent = Json::parse(page_->state().body);
  sent.erase("turns");
  Json documented = example("\"samovar.state\"");
  documented.erase("turns");
  EXPECT_EQ(fields_of(documented), fields_of(sent));
  run_a_turn();
  EXPECT_EQ(schema("State"), fields_of(Json::parse(page_->state().body)));
}

TEST_F(PageDocTest, LiveTurn) {
  run_a_turn();
  const Json sent = Json::parse(page_->state().body)["turns"][0];
  ASSERT_FALSE(sent["miss"].is_null());
  EXPECT_EQ(fields_of(example("\"id\"")), fields_of(sent));
  EXPECT_EQ(schema("LiveTurn"), fields_of(sent));
}

TEST_F(PageDocTest, Sessions) {
  run_a_turn();
  fill_memory_and_store();
  const Json sent = sessions();
  ASSERT_TRUE(sent["nodes"][0]["memory"].is_object());
  ASSERT_TRUE(sent["nodes"][0]["disk"].is_object());
  EXPECT_EQ(fields_of(example("\"samovar.sessions\"")), fields_of(sent));
  EXPECT_EQ(schema("Sessions"), fields_of(sent));
}

// Fields that the tables explain in words, too.
TEST_F(PageDocTest, EveryFieldOfANodeIsExplained) {
  for (const char* field :
       {"`id`", "`parent`", "`memory.cells`", "`memory.sequences`", "`memory.anchor`",
        "`disk.bytes`", "`disk.checkpoint`", "`disk.hits`", "`disk.pinned`", "`disk.writing`",
        "`disk.evict_rank`", "`truncated`", "`memory_known`", "`phases_ms`", "`done_tokens`"}) {
    EXPECT_NE(text_.find("| " + std::string(field)), std::string::npos) << field;
  }
}

}  // namespace
}  // namespace samovar
