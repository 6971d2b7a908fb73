// Goal: a byte of a rendered prompt is traced to the message and field it comes from. Method: a
// prompt written by hand, asked at the bytes of its parts.
#include "explain/rendered_place.h"

#include "explain/explain_testing.h"

namespace samovar {
namespace {

using testing::message;

const std::string kRendered =
    "<s>rules\nfunctions: [{\"name\": \"find\", \"description\": \"Finds.\"}]</s>"
    "<u>question</u><a><think>thought</think>calling{\"x\":1}</a>"
    "<t>\\\"result\\\"</t><a>answer</a><u>next</u>";

RenderedPlace place(std::string_view at) {
  ChatRequest request;
  request.tools = {{"find", "Finds.", "{}"}};
  request.messages = {message(Role::system, "rules"),
                      message(Role::user, "question"),
                      testing::thinking("thought", "calling"),
                      message(Role::tool, "\"result\""),  // the template escapes it
                      message(Role::assistant, " answer\n"),
                      message(Role::user, "next")};
  return place_of(kRendered.find(at), kRendered, request);
}

TEST(RenderedPlace, TextsAreTracedToTheirFields) {
  EXPECT_EQ(place("ules").field, "content");
  EXPECT_EQ(place("ules").first, 0U);
  EXPECT_EQ(place("hought").field, "reasoning");
  EXPECT_EQ(place("hought").last, 2U);
  EXPECT_EQ(place("nswer").first, 4U) << "white space at its ends does not matter";
}

TEST(RenderedPlace, ToolsAreKnownByTheirNames) {
  EXPECT_TRUE(place("find").in_tools);
  EXPECT_TRUE(place("Finds.").in_tools);
  EXPECT_FALSE(place("rules").in_tools);
  EXPECT_FALSE(place("calling").in_tools);
}

TEST(RenderedPlace, BetweenTextsItIsOneOfTheMessagesAround) {
  for (const char* at : {"\"x\"", "result"}) {
    EXPECT_EQ(place(at).field, "") << at;
    EXPECT_EQ(place(at).first, 2U) << at;
    EXPECT_EQ(place(at).last, 4U) << at;
  }
}

TEST(RenderedPlace, BehindEverythingItIsTheEnd) {
  const ChatRequest empty;
  EXPECT_FALSE(place_of(3, "abc", empty).first.has_value());
}

}  // namespace
}  // namespace samovar
