// Goal: a turn's shape says what it has to with hashes alone, and goes through bytes unharmed.
// Method: prints of texts that are spelled otherwise; random shapes through the codec; damaged and
// random bytes into the decoder.
#include <rapidcheck.h>

#include <algorithm>

#include "explain/explain_testing.h"
#include "explain/shape_codec.h"
#include "explain/turn_shape.h"

namespace samovar {
namespace {

using testing::Keep;
using testing::message;

TEST(TextPrint, LooseHashPassesOverWhiteSpace) {
  EXPECT_EQ(print_of("a b\n").loose, print_of("ab").loose);
  EXPECT_NE(print_of("a b").exact, print_of("ab").exact);
  EXPECT_NE(print_of("ab").loose, print_of("ac").loose);
  EXPECT_TRUE(print_of("").empty());
}

TEST(TextPrint, LooseHashOfJsonPassesOverSpacingAndOrder) {
  const auto loose = [](const char* text) { return print_of_json(text).loose; };
  EXPECT_EQ(loose(R"({"a": 1, "b": [true, null]})"), loose(R"({"b":[true,null],"a":1})"));
  EXPECT_EQ(loose(R"({"a":"x y"})"), loose("{\n \"a\" : \"x y\"\n}"));
  EXPECT_NE(loose(R"({"a":"x y"})"), loose(R"({"a":"xy"})")) << "space in strings is content";
  EXPECT_NE(loose(R"({"a":1})"), loose(R"({"a":2})"));
  EXPECT_NE(loose(R"({"a":"b\"c"})"), loose(R"({"a":"b","c":""})"));
  (void)loose(R"({"a": "unterminated)");
}

TEST(MessagePositions, AreExactWhereMessageStartsCanBeToldApart) {
  ChatRequest request;
  request.messages = {message(Role::system, "s one two"), message(Role::user, "u"),
                      message(Role::assistant, "calls"),  message(Role::tool, "r one"),
                      message(Role::tool, "r two"),       message(Role::user, "more")};
  const TurnShape shape = testing::turn(request, Keep::nothing);
  const auto positions = message_positions(shape);
  ASSERT_EQ(positions.size(), 7U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(positions[i], shape.message_starts[i]);
  EXPECT_EQ(positions[6], shape.history_end);
}

// Goal: system messages that joined others, as chat/late_system.h does it, blur no other's place.
TEST(MessagePositions, AreExactWhereSystemMessagesJoinedOthers) {
  ChatRequest request;
  request.messages = {
      message(Role::system, "s"),     message(Role::developer, "d"), message(Role::user, "u"),
      message(Role::system, "late"),  message(Role::assistant, "a"), message(Role::tool, "r one"),
      message(Role::system, "late"),  message(Role::tool, "r two"),  message(Role::assistant, "b"),
      message(Role::system, "alone"), message(Role::user, "more")};
  TurnShape shape = testing::turn(request, Keep::nothing);
  shape.message_starts = {0, 10, 20, 30, 40, 50, 60, 70};
  shape.history_end = 70;
  const auto positions = message_positions(shape);
  ASSERT_EQ(positions.size(), 12U);
  const std::vector<std::pair<std::size_t, Position>> begins = {{0, 0},  {2, 10}, {4, 20}, {5, 30},
                                                                {8, 40}, {9, 50}, {10, 60}};
  for (const auto& [index, position] : begins) EXPECT_EQ(positions[index], position) << index;
  EXPECT_EQ(positions[11], 70);
}

TEST(MessagePositions, AreGuessedFromSizesElsewhere) {
  ChatRequest request;
  request.messages = {message(Role::user, testing::words(10, "a")),
                      message(Role::assistant, testing::words(1000, "b")),
                      message(Role::user, "c")};
  TurnShape shape = testing::turn(request, Keep::nothing);
  shape.message_starts = {0};
  const auto positions = message_positions(shape);
  EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
  EXPECT_GT(positions[2] - positions[1], 900);
  EXPECT_EQ(message_positions(TurnShape{}).size(), 1U);
}

TEST(GuessShape, CountsFourBytesAToken) {
  ChatRequest request;
  request.messages = {message(Role::system, std::string(4000, 's')), message(Role::user, "hi")};
  const TurnShape shape = guess_shape(request, {});
  EXPECT_TRUE(shape.estimated);
  EXPECT_NEAR(shape.prompt_tokens, 1015, 20);
  EXPECT_NEAR(shape.system_end, 1005, 10);
}

// --- the codec ---

rc::Gen<std::string> short_text() { return rc::gen::resize(12, rc::gen::arbitrary<std::string>()); }

ChatMessage random_message() {
  ChatMessage made = message(
      *rc::gen::element(Role::system, Role::user, Role::assistant, Role::tool), *short_text());
  if (made.role == Role::assistant) {
    made.reasoning = *short_text();
    const int calls = *rc::gen::inRange(0, 3);
    for (int i = 0; i < calls; ++i) {
      made.tool_calls.push_back({*short_text(), *short_text(), *short_text()});
    }
  }
  if (made.role == Role::tool) made.tool_call_id = *short_text();
  return made;
}

ChatRequest random_request() {
  ChatRequest request;
  const int messages = *rc::gen::inRange(0, 8);
  for (int i = 0; i < messages; ++i) request.messages.push_back(random_message());
  const int tools = *rc::gen::inRange(0, 4);
  for (int i = 0; i < tools; ++i) {
    request.tools.push_back({*short_text(), *short_text(), *short_text()});
  }
  if (*rc::gen::arbitrary<bool>()) request.template_arguments[*short_text()] = *short_text();
  if (*rc::gen::arbitrary<bool>()) request.enable_thinking = *rc::gen::arbitrary<bool>();
  return request;
}

TurnShape random_shape() {
  TurnShape shape = testing::turn(random_request(), Keep::nothing);
  shape.turn_id = *short_text();
  shape.model = *short_text();
  shape.session = *rc::gen::arbitrary<std::uint64_t>();
  shape.chat_template = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::arbitrary<bool>()) shape.keeps_reasoning = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) {
    add_reply(shape, random_message(), *rc::gen::inRange(0, 100'000), *rc::gen::arbitrary<bool>());
  }
  return shape;
}

void expect_same(const TurnShape& a, const TurnShape& b) {
  RC_ASSERT(a.turn_id == b.turn_id);
  RC_ASSERT(a.session == b.session);
  RC_ASSERT(a.model == b.model);
  RC_ASSERT(a.chat_template == b.chat_template);
  RC_ASSERT(a.keeps_reasoning == b.keeps_reasoning);
  RC_ASSERT(a.options == b.options);
  RC_ASSERT(a.tools == b.tools);
  RC_ASSERT(a.messages == b.messages);
  RC_ASSERT(a.prompt_tokens == b.prompt_tokens);
  RC_ASSERT(a.system_end == b.system_end);
  RC_ASSERT(a.history_end == b.history_end);
  RC_ASSERT(a.message_starts == b.message_starts);
  RC_ASSERT(a.estimated == b.estimated);
  RC_ASSERT(a.reply == b.reply);
}

TEST(ShapeCodec, EveryShapeComesBackAsItWas) {
  EXPECT_TRUE(rc::check([] {
    const TurnShape shape = random_shape();
    const auto decoded = decode_shape(encode_shape(shape));
    RC_ASSERT(decoded.has_value());
    expect_same(shape, *decoded);
  }));
}

TEST(ShapeCodec, AMessageTakesAFewDozenBytes) {
  ChatRequest request;
  for (int i = 0; i < 400; ++i) {
    request.messages.push_back(
        message(i % 2 == 0 ? Role::user : Role::assistant, testing::words(100, "w")));
  }
  const auto bytes = encode_shape(testing::turn(request, Keep::nothing));
  EXPECT_LT(bytes.size(), 400U * 40);
}

TEST(ShapeCodec, KeepsNoText) {
  ChatRequest request;
  request.messages = {message(Role::user, "my secret"), testing::thinking("secretly", "secret")};
  request.template_arguments["x"] = "\"secret\"";
  const auto bytes = encode_shape(testing::turn(request, Keep::all));
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()).find("secret"), std::string::npos);
}

TEST(ShapeCodec, TruncatedAndLengthenedBytesAreRefused) {
  ChatRequest request;
  request.messages = {message(Role::system, "s"), message(Role::user, "u")};
  request.tools = {testing::tool("one")};
  const auto bytes = encode_shape(testing::turn(request, Keep::nothing));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_shape(Bytes(bytes.data(), size)).has_value()) << size;
  }
  auto longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(decode_shape(longer).has_value());
  auto newer = bytes;
  newer[0] = 2;
  EXPECT_FALSE(decode_shape(newer).has_value());
}

TEST(ShapeCodec, HostileBytesAreRefusedOrMakeAHarmlessShape) {
  EXPECT_TRUE(rc::check([](std::vector<std::uint8_t> bytes) {
    bytes.insert(bytes.begin(), 1);
    const auto decoded = decode_shape(bytes);
    if (decoded) RC_ASSERT(encode_shape(*decoded) == bytes);
  }));
  EXPECT_TRUE(rc::check([] {  // one byte changed
    const TurnShape before = random_shape();
    auto bytes = encode_shape(before);
    const auto place = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[place] = *rc::gen::arbitrary<std::uint8_t>();
    const auto decoded = decode_shape(bytes);
    if (!decoded) return;
    (void)message_positions(*decoded);
    (void)explain(&before, *decoded, {}, {});
    (void)explain(&*decoded, before, {}, {});
  }));
  // A count far beyond the bytes that follow must not allocate for it.
  const std::vector<std::uint8_t> huge = {1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
  EXPECT_FALSE(decode_shape(huge).has_value());
}

}  // namespace
}  // namespace samovar
