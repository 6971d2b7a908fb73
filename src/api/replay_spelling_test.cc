// Goal: whatever JSON a client makes of a conversation, a reply in it stands in the prompt as it
// was sampled. Method: whole request bodies with random escapes, key order, spaces, number forms,
// arguments as object or text, content as text or parts, through the reader of requests.
#include <algorithm>

#include "api/chat_request.h"
#include "chat/replay_testing.h"
#include "chat/reply_memory.h"

namespace samovar {
namespace {

using testing::Json;
using testing::json_string;
using testing::Random;

Json object(std::vector<std::pair<std::string, Json>> members) {
  return {.kind = Json::Kind::object, .members = std::move(members)};
}
Json array(std::vector<Json> items) {
  Json json{.kind = Json::Kind::array};
  for (Json& item : items) json.members.emplace_back("", std::move(item));
  return json;
}

Json content(const std::string& text, Random& random) {
  if (testing::chance(random, 2)) return json_string(text);
  return array({object({{"type", json_string("text")}, {"text", json_string(text)}})});
}

ChatRequest parsed(const Json& body, Random& random) {
  const std::string text = testing::spelled(body, random, /*plain_integers=*/true);
  auto request = parse_chat_request(text, {});
  EXPECT_TRUE(request.has_value()) << (request ? "" : request.error().describe()) << "\n" << text;
  return request ? std::move(request->chat) : ChatRequest{};
}

TEST(ReplaySpelling, ARequestBodyMayBeWrittenInAnyWay) {
  Random random(21);
  const auto format = testing::make_format("Qwen3.5-4B");
  const Json tool = object(
      {{"type", json_string("function")},
       {"function",
        object({{"name", json_string("write")},
                {"parameters",
                 object({{"type", json_string("object")},
                         {"properties",
                          object({{"text", object({{"type", json_string("string")}})},
                                  {"value", object({{"type", json_string("object")}})}})}})}})}});
  for (int round = 0; round < 60; ++round) {
    ReplyMemory memory;
    const std::string said = testing::random_words(random, 10);
    Json arguments = object({{"text", json_string("t" + testing::random_words(random, 4))},
                             {"value", object({{"v", testing::random_json(random, 3)}})}});
    Json messages =
        array({object({{"role", json_string("user")}, {"content", content("Hi", random)}})});
    const auto body = [&] { return object({{"messages", messages}, {"tools", array({tool})}}); };
    const RenderedChat chat = testing::render(*format, parsed(body(), random), &memory);

    const auto& fields = arguments.members;
    const std::string text = "Hm.\n</think>\n\n" + said +
                             "\n\n<tool_call>\n<function=write>\n<parameter=text>\n" +
                             fields[0].second.text + "\n</parameter>\n<parameter=value>\n" +
                             testing::spelled(fields[1].second, random, true) +
                             "\n</parameter>\n</function>\n</tool_call>";
    const Tokens sampled =
        testing::joined(testing::odd_tokens(*format, text, random), format->tokenize("<|im_end|>"));
    memory.remember(chat.context, {}, format->read_sampled(chat, sampled));

    Json call_arguments =
        testing::chance(random, 2) ? arguments : json_string(testing::spelled(arguments, random));
    const Json call = object(
        {{"id", json_string("toolu_1")},
         {"type", json_string("function")},
         {"function", object({{"name", json_string("write")}, {"arguments", call_arguments}})}});
    Json reply = object({{"role", json_string("assistant")},
                         {"content", content(said + (round % 2 == 0 ? "" : "\n "), random)},
                         {"tool_calls", array({call})}});
    if (testing::chance(random, 2))
      reply.members.emplace_back("reasoning_content", json_string("Hm."));
    messages.members.emplace_back("", reply);
    messages.members.emplace_back("", object({{"role", json_string("tool")},
                                              {"tool_call_id", json_string("toolu_1")},
                                              {"content", content("Done.", random)}}));
    const RenderedChat next = testing::render(*format, parsed(body(), random), &memory);
    EXPECT_EQ(next.replayed, 1) << text << "\n" << next.text;
    // Tools are spelled anew, too, so the prompts differ before the reply.
    const auto& before = chat.prompt;
    const Tokens replayed = testing::joined(
        {before.tokens.begin() + before.primer_start, before.tokens.end()}, sampled);
    EXPECT_FALSE(std::ranges::search(next.prompt.tokens, replayed).empty()) << next.text;
    // One thing changed, and it is another reply.
    testing::change(arguments.members[1].second, random);
    Json& sent = messages.members[1].second.members[2].second.members[0].second;
    sent.members[2].second.members[1].second = arguments;
    EXPECT_EQ(testing::render(*format, parsed(body(), random), &memory).replayed, 0);
  }
}

}  // namespace
}  // namespace samovar
