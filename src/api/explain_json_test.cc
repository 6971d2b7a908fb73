// Goal: the JSON of an explanation has its documented members, and no text where none is wanted.
#include "api/explain_json.h"

#include <nlohmann/json.hpp>

namespace samovar {
namespace {

Explanation example() {
  Explanation e;
  e.cause = Cause::time_or_date;
  e.title = "A time or date in the system prompt changed";
  e.remedy = "Fix the time.";
  e.tokens_lost = 637;
  e.estimated = true;
  e.seconds_lost = 1.59251;
  e.kept_reply = "chatcmpl-1";
  FirstDifference first;
  first.token = 22;
  first.message = 0;
  first.role = Role::system;
  first.field = "content";
  first.old_text = "07:12";
  first.new_text = "07:13";
  e.first = first;
  return e;
}

TEST(ExplanationJson, HasEveryMember) {
  EXPECT_EQ(explanation_json(example(), ExplainTexts::shown).dump(),
            R"({"class":"time_or_date","title":"A time or date in the system prompt changed",)"
            R"("detail":"","remedy":"Fix the time.","tokens_lost":637,"estimated":true,)"
            R"("seconds_lost":1.593,"first_difference":{"token":22,"byte":null,"estimated":false,)"
            R"("message":0,"role":"system","field":"content","tool":null,"old":"07:12",)"
            R"("new":"07:13"},"kept_reply":"chatcmpl-1"})");
}

TEST(ExplanationJson, TextsAreLeftOutOnRequest) {
  const auto json = explanation_json(example(), ExplainTexts::hidden);
  EXPECT_TRUE(json["first_difference"]["old"].is_null());
  EXPECT_TRUE(json["first_difference"]["new"].is_null());
  EXPECT_EQ(json.dump().find("07:1"), std::string::npos);
}

TEST(ExplanationJson, NothingLostIsMostlyNull) {
  const auto json = explanation_json({}, ExplainTexts::shown);
  EXPECT_EQ(json["class"], "none");
  EXPECT_EQ(json["tokens_lost"], 0);
  EXPECT_TRUE(json["seconds_lost"].is_null());
  EXPECT_TRUE(json["first_difference"].is_null());
  EXPECT_TRUE(json["kept_reply"].is_null());
}

TEST(ExplanationJson, OneSideMayBeEmpty) {
  Explanation e = example();
  e.first->new_text.clear();
  EXPECT_EQ(explanation_json(e, ExplainTexts::shown)["first_difference"]["new"], "");
}

}  // namespace
}  // namespace samovar
