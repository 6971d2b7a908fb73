// Goal: the reply's text is never harmed by what is shown below it, and cannot steer the terminal.
// Method: the bytes go to a small terminal of our own, whose screen is looked at.
#include "client/painter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>

#include "client/explain_text.h"
#include "client/text.h"

namespace samovar::client {
namespace {

// Rows that only grow, a cursor, and the few sequences a Painter uses. Wraps as terminals do: after
// the last column the cursor waits.
class TinyTerminal {
 public:
  explicit TinyTerminal(int columns) : columns_(columns) {}

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      if (bytes.starts_with("\033[")) {
        const std::size_t end = bytes.find_first_of("ACJm", 2);
        ASSERT_NE(end, std::string_view::npos) << bytes;
        const std::string number(bytes.substr(2, end - 2));
        sequence(bytes[end], number.empty() ? 1 : std::stoi(number));
        bytes.remove_prefix(end + 1);
        continue;
      }
      const Decoded next = decode_utf8(bytes);
      bytes.remove_prefix(next.bytes);
      character(next.code);
    }
  }

  // Rows without their trailing blanks.
  std::vector<std::string> rows() const {
    std::vector<std::string> out;
    for (const std::u32string& row : rows_) {
      std::string text;
      for (const char32_t code : row) append_utf8(text, code);
      while (text.ends_with(' ')) text.pop_back();
      out.push_back(text);
    }
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
  }

 private:
  void sequence(char kind, int number) {
    if (kind == 'A') row_ = std::max(0, row_ - number);
    if (kind == 'C') column_ = std::min(columns_ - 1, column_ + number);
    if (kind == 'J') {
      rows_.resize(static_cast<std::size_t>(row_) + 1);
      rows_[static_cast<std::size_t>(row_)].resize(static_cast<std::size_t>(column_), U' ');
    }
  }

  void character(char32_t code) {
    if (code == '\r') {
      column_ = 0;
    } else if (code == '\n') {
      ++row_;
      column_ = 0;  // ONLCR
    } else {
      ASSERT_GE(code, 0x20U);
      if (column_ == columns_) {
        ++row_;
        column_ = 0;
      }
      if (rows_.size() <= static_cast<std::size_t>(row_)) {
        rows_.resize(static_cast<std::size_t>(row_) + 1);
      }
      std::u32string& row = rows_[static_cast<std::size_t>(row_)];
      row.resize(std::max(row.size(), static_cast<std::size_t>(column_) + 1), U' ');
      row[static_cast<std::size_t>(column_)] = code;
      ++column_;
    }
    if (rows_.size() <= static_cast<std::size_t>(row_)) {
      rows_.resize(static_cast<std::size_t>(row_) + 1);
    }
  }

  int columns_;
  int row_ = 0;
  int column_ = 0;
  std::vector<std::u32string> rows_ = std::vector<std::u32string>(1);
};

class PainterTest : public ::testing::Test {
 protected:
  PainterTest() { std::setlocale(LC_CTYPE, "C.UTF-8"); }
};

// For every way to cut a text and every width: with a footer that comes and goes between the pieces
// the screen ends as it does without.
TEST_F(PainterTest, FootersLeaveNoTraceInTheReply) {
  const std::string reply = "12345678\n\nabcdefghijkl\nthe end\n12345678";
  for (int columns = 4; columns <= 13; ++columns) {
    TinyTerminal expected(columns);
    expected.write(reply);
    for (std::size_t at = 0; at <= reply.size(); ++at) {
      for (const int lines : {1, 2}) {
        TinyTerminal terminal(columns);
        Painter painter(true, true);
        painter.set_columns(columns);
        const std::vector<std::string> footer(static_cast<std::size_t>(lines), "typing a line");
        terminal.write(painter.footer(footer));
        terminal.write(painter.flow(Style::plain, reply.substr(0, at)));
        terminal.write(painter.footer({"> x"}));
        terminal.write(painter.footer(footer));
        terminal.write(painter.flow(Style::dim, reply.substr(at)));
        const auto shown = terminal.rows();
        ASSERT_FALSE(shown.empty());
        EXPECT_TRUE(shown.back().starts_with("…")) << "the footer is last";
        terminal.write(painter.footer({}));
        EXPECT_EQ(terminal.rows(), expected.rows()) << columns << " " << at << " " << lines;
      }
    }
  }
}

TEST_F(PainterTest, LinesOfTheirOwnStandAlone) {
  TinyTerminal terminal(10);
  Painter painter(true, false);
  painter.set_columns(10);
  terminal.write(painter.flow(Style::plain, "reply"));
  terminal.write(painter.footer({"> typed"}));
  terminal.write(painter.line(Style::dim, "a note"));
  EXPECT_EQ(terminal.rows(), (std::vector<std::string>{"reply", "a note", "> typed"}));
  terminal.write(painter.footer({}));
  terminal.write(painter.line(Style::plain, "with end\n"));
  terminal.write(painter.end_line());
  EXPECT_EQ(terminal.rows(), (std::vector<std::string>{"reply", "a note", "with end"}));
}

TEST_F(PainterTest, TextCannotSteerTheTerminal) {
  for (const bool able : {true, false}) {
    Painter painter(able, false);
    const std::string out = painter.flow(Style::plain,
                                         "a\033[2J\x07\xC2\x9B"
                                         "5Ab\rc");
    EXPECT_EQ(out.find('\033'), std::string::npos);
    EXPECT_EQ(out.find('\r'), std::string::npos);
    EXPECT_EQ(out.find('\x07'), std::string::npos);
    EXPECT_EQ(out.find("\xC2\x9B"), std::string::npos);
  }
}

TEST_F(PainterTest, WithoutATerminalTextPassesAsItIs) {
  Painter painter(false, false);
  EXPECT_EQ(painter.footer({"> x"}), "");
  EXPECT_EQ(painter.flow(Style::dim, "a\tb"), "a\tb");
  EXPECT_EQ(painter.end_line(), "\n");
  EXPECT_EQ(painter.end_line(), "");
}

TEST_F(PainterTest, WideCharactersCountTwice) {
  EXPECT_EQ(width_of("日本"), 4);
  EXPECT_EQ(width_of("e\xCC\x81"), 1);
  EXPECT_EQ(line_tail("日本", 3), "…本");
}

TEST(ExplainText, PrintsWhatIsThereAndNothingElse) {
  const std::string text = explanation_text(R"({"id":"t","class":"time","title":"A clock",
      "detail":"The system text holds the time","remedy":"Put it last","tokens_lost":12345,
      "estimated":true,"seconds_lost":4.25,"first_difference":{"token":17,"byte":80,"message":0,
      "role":"system","field":"content","tool":null,"old":"12:00\n","new":"12:01"},
      "kept_reply":"chatcmpl-7"})");
  EXPECT_EQ(text,
            "A clock [time]\n"
            "          The system text holds the time\n"
            "  where   message 0 (system), content, token 17, byte 80\n"
            "  before  \"12:00\"\n"
            "  then    \"12:01\"\n"
            "  cost    12,345 tokens computed again, 4.2 s (estimated)\n"
            "  remedy  Put it last\n"
            "  reply   kept by the server as turn chatcmpl-7\n");
  EXPECT_EQ(explanation_text(R"({"class":"none","title":"Nothing was lost","detail":null,
      "tokens_lost":0,"first_difference":null})"),
            "Nothing was lost\n");
  EXPECT_EQ(explanation_text("<html>"), "");
  EXPECT_EQ(explanation_text("{}"), "");
}

}  // namespace
}  // namespace samovar::client
