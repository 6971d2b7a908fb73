// Goal: what is typed and pasted arrives as meant, however the terminal cuts it into reads.
#include <gtest/gtest.h>

#include <clocale>

#include "client/key_decoder.h"
#include "client/live_line.h"
#include "client/text.h"
#include "client/user_input.h"

namespace samovar::client {
namespace {

std::string keys_of(KeyDecoder& decoder) {
  std::string out;
  while (const auto key = decoder.next()) {
    if (key->pasted) out += '^';
    append_utf8(out, key->code);
  }
  return out;
}

TEST(KeyDecoder, CharactersAndPastesSurviveEveryCut) {
  const std::string bytes = "aé\033[A\033[200~x\ry\033[B\033[201~😀\n";
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    KeyDecoder decoder;
    decoder.push(bytes.substr(0, at));
    decoder.push(bytes.substr(at));
    EXPECT_EQ(keys_of(decoder), "aé\033[A^x^\n^y^\033^[^B😀\n") << at;
    EXPECT_FALSE(decoder.waiting());
  }
}

TEST(KeyDecoder, ALoneEscapeWaitsUntilGivenUp) {
  KeyDecoder decoder;
  decoder.push("\033");
  EXPECT_TRUE(decoder.waiting());
  EXPECT_FALSE(decoder.next());
  decoder.give_up();
  EXPECT_EQ(keys_of(decoder), "\033");
  decoder.push("\xE2\x82");
  EXPECT_TRUE(decoder.waiting());
  decoder.give_up();
  EXPECT_EQ(keys_of(decoder), "\xEF\xBF\xBD");
  decoder.push("\xFFz");
  EXPECT_EQ(keys_of(decoder), "\xEF\xBF\xBDz");
}

// Outcomes of the keys, by their first letters; the last one matters.
LiveLine::Outcome type(LiveLine& line, std::string_view bytes) {
  KeyDecoder decoder;
  decoder.push(bytes);
  decoder.give_up();
  LiveLine::Outcome last = LiveLine::Outcome::nothing;
  while (const auto key = decoder.next()) last = line.key(*key);
  return last;
}

TEST(LiveLine, TakesALineWithItsFewKeys) {
  LiveLine line;
  EXPECT_EQ(type(line, "helloé\x7F two words\x17\033[D\033OAx"), LiveLine::Outcome::changed);
  EXPECT_EQ(line.text(), "hello two x");
  EXPECT_EQ(type(line, "\r"), LiveLine::Outcome::entered);
  EXPECT_EQ(line.take(), "hello two x");
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(type(line, "abc\x15"), LiveLine::Outcome::changed);
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(type(line, "   \n"), LiveLine::Outcome::changed) << "blanks are no message";
  EXPECT_EQ(type(line, "x\x04"), LiveLine::Outcome::nothing);
  EXPECT_EQ(type(line, "\x7F\x04"), LiveLine::Outcome::leave);
}

TEST(LiveLine, LinesGoOnAndPastesStayTogether) {
  LiveLine line;
  EXPECT_EQ(type(line, "one\\\n"), LiveLine::Outcome::changed);
  EXPECT_EQ(line.text(), "one\n");
  EXPECT_EQ(type(line, "two\n"), LiveLine::Outcome::entered);
  EXPECT_EQ(line.take(), "one\ntwo");
  EXPECT_EQ(type(line, "\033[200~a\r\tb\033[201~"), LiveLine::Outcome::changed);
  EXPECT_EQ(line.take(), "a\n\tb") << "not entered: it moves on as it is";
  EXPECT_TRUE(line.empty());
}

TEST(UserInput, SlashesAreCommandsUnlessEscaped) {
  EXPECT_EQ(parse_input("/retry").command, "retry");
  EXPECT_EQ(parse_input("/edit  3 ").argument, "3");
  EXPECT_EQ(parse_input("/").command, "help");
  EXPECT_EQ(parse_input(" /etc/hosts is gone").message, "/etc/hosts is gone");
  EXPECT_EQ(parse_input("//etc").message, "/etc");
  EXPECT_EQ(parse_input("/* code */\nint x;").message, "/* code */\nint x;");
  EXPECT_EQ(parse_input("  two blanks").message, "  two blanks");
}

TEST(UserInput, UnknownCommandsGiveAHint) {
  EXPECT_NE(unknown_command("resme").find("did you mean /resume?"), std::string::npos);
  EXPECT_NE(unknown_command("sess").find("/sessions"), std::string::npos);
  EXPECT_EQ(unknown_command("usr/bin/env").find("did you mean"), std::string::npos);
  EXPECT_NE(unknown_command("usr/bin/env").find("blank before the slash"), std::string::npos);
  EXPECT_NE(commands_help().find("/resume [NAME|NUMBER]"), std::string::npos);
}

TEST(LineGatherer, BackslashesAndBlocks) {
  LineGatherer gatherer;
  EXPECT_TRUE(gatherer.add("one"));
  EXPECT_EQ(gatherer.take(), "one");
  EXPECT_FALSE(gatherer.add("a\\"));
  EXPECT_FALSE(gatherer.empty());
  EXPECT_TRUE(gatherer.add(""));
  EXPECT_EQ(gatherer.take(), "a\n");
  EXPECT_FALSE(gatherer.add("\"\"\""));
  EXPECT_FALSE(gatherer.add("x \\"));
  EXPECT_FALSE(gatherer.add(""));
  EXPECT_FALSE(gatherer.add("y"));
  EXPECT_TRUE(gatherer.add("\"\"\""));
  EXPECT_EQ(gatherer.take(), "x \\\n\ny");
  EXPECT_TRUE(gatherer.add("\"\"\"in one\"\"\""));
  EXPECT_EQ(gatherer.take(), "in one");
  EXPECT_TRUE(gatherer.add("pasted\\\nlines"));
  EXPECT_EQ(gatherer.take(), "pasted\\\nlines");
  EXPECT_TRUE(gatherer.empty());
}

TEST(Text, OneLineAndTail) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(one_line("  a\n b\t\tc\033[31m ", 20), "a b c[31m");
  EXPECT_EQ(one_line("abcdef", 4), "abc…");
  EXPECT_EQ(line_tail("abc\ndef", 4), "…def");
  EXPECT_EQ(line_tail("a\nb", 10), "a⏎b");
  EXPECT_EQ(valid_utf8("a\xF0\x9F\x98"
                       "b"),
            "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
}

}  // namespace
}  // namespace samovar::client
