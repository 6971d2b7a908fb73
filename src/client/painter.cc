#include "client/painter.h"

#include <fmt/format.h>

#include "client/text.h"

namespace samovar::client {
namespace {

constexpr int kTab = 8;

}  // namespace

std::string_view Painter::on(Style style) const {
  if (!colour_ || style == Style::plain) return "";
  return style == Style::dim ? "\033[2m" : "\033[31m";
}

std::string Painter::flow(Style style, std::string_view text) {
  if (text.empty()) return {};
  std::string out = take_footer_away();
  const std::string_view begin = on(style);
  out += begin;
  while (!text.empty()) {
    const Decoded next = decode_utf8(text);
    text.remove_prefix(next.bytes);
    put(out, next.code);
  }
  if (!begin.empty()) out += "\033[0m";
  return out + put_footer();
}

std::string Painter::line(Style style, std::string_view text) {
  std::vector<std::string> kept;
  std::swap(kept, footer_);
  std::string out = take_footer_away();
  out += end_line();
  out += flow(style, text);
  out += end_line();
  std::swap(kept, footer_);
  return out + put_footer();
}

std::string Painter::end_line() {
  std::string out = take_footer_away();
  if (column_ > 0 || line_done_) put(out, '\n');
  return out + put_footer();
}

std::string Painter::footer(const std::vector<std::string>& lines) {
  if (!terminal_ || (lines == footer_ && footer_rows_ == static_cast<int>(lines.size()))) return {};
  std::string out = take_footer_away();
  footer_ = lines;
  return out + put_footer();
}

void Painter::forget() {
  footer_.clear();
  footer_rows_ = 0;
  column_ = 0;
  line_done_ = false;
}

void Painter::put(std::string& out, char32_t code) {
  if (code == '\n') {
    // The footer has moved the cursor past a full line: its newline is there already.
    if (!line_done_) out += '\n';
    line_done_ = false;
    column_ = 0;
    return;
  }
  if (is_control(code)) code = kReplacement;
  line_done_ = false;
  if (!terminal_) {
    append_utf8(out, code);
    column_ = 1;
    return;
  }
  if (code == '\t') {  // blanks, so that the column is known
    do put(out, ' ');
    while (column_ % kTab != 0 && column_ < columns_);
    return;
  }
  const int width = width_of(code);
  if (column_ + width > columns_) column_ = 0;  // the terminal wraps
  append_utf8(out, code);
  column_ += width;
}

// Leaves the cursor at the reply's end.
std::string Painter::take_footer_away() {
  if (footer_rows_ == 0) return {};
  std::string out = "\r";
  const int up = footer_rows_ - 1 + (footer_below_ ? 1 : 0);
  if (footer_rows_ > 1) out += fmt::format("\033[{}A", footer_rows_ - 1);
  out += "\033[J";
  if (up > footer_rows_ - 1) out += "\033[1A";
  if (footer_below_) out += fmt::format("\033[{}C", column_);
  footer_rows_ = 0;
  return out;
}

std::string Painter::put_footer() {
  if (footer_.empty() || footer_rows_ > 0) return {};
  std::string out;
  if (column_ >= columns_) {  // a full line: the next character would go to the next line anyway
    out += "\r\n";
    column_ = 0;
    line_done_ = true;
  }
  footer_below_ = column_ > 0;
  if (footer_below_) out += "\r\n";
  for (std::size_t i = 0; i < footer_.size(); ++i) {
    if (i > 0) out += "\r\n";
    out += line_tail(footer_[i], columns_ - 1);
  }
  footer_rows_ = static_cast<int>(footer_.size());
  return out;
}

}  // namespace samovar::client
