#include "app/explain_print.h"

#include <fmt/format.h>

#include "app/wrap.h"
#include "explain/wording.h"

namespace samovar::app {
namespace {

constexpr std::size_t kIndent = 8;

std::string wrapped(const std::string& text) { return app::wrapped(text, kIndent); }

std::string row(const char* name, const std::string& text) {
  return fmt::format("{:<{}}{}\n", name, kIndent, text);
}

// One line without control characters: a text of a prompt must not steer the terminal.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (c == '\r') {
      line += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

std::size_t columns(std::string_view utf8) {
  std::size_t count = 0;
  for (const char c : utf8) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

std::string side(const char* name, const std::string& text, std::size_t at, bool colour,
                 const char* code) {
  if (text.empty()) return row(name, "(nothing)");
  const std::string same = one_line(std::string_view(text).substr(0, at));
  const std::string other = one_line(std::string_view(text).substr(at));
  if (colour) return row(name, fmt::format("{}\033[{}m{}\033[0m", same, code, other));
  return row(name, same + other) + std::string(kIndent + columns(same), ' ') + "^\n";
}

std::string where(const FirstDifference& first, bool guessed) {
  std::string text = place_text(first);
  const std::string about = first.estimated ? "about " : "";
  if (first.token) {
    text +=
        fmt::format(": {}token {}", about, with_commas(static_cast<std::uint64_t>(*first.token)));
    if (first.byte) text += fmt::format(", {}byte {}", about, with_commas(*first.byte));
    text += guessed ? " (estimated from sizes)" : " of the prompt";
  }
  return text;
}

std::string cost(const Explanation& e) {
  if (e.tokens_lost == 0) return "nothing was computed again";
  std::string text = fmt::format("{}{} tokens", e.estimated ? "about " : "",
                                 with_commas(static_cast<std::uint64_t>(e.tokens_lost)));
  if (e.seconds_lost) text += fmt::format(", {:.1f} s", *e.seconds_lost);
  return text + " computed again";
}

}  // namespace

std::string print_explanation(const Explanation& e, const ExplainPrinting& how) {
  std::string text = how.colour
                         ? fmt::format("\033[1m{}\033[0m  [{}]\n\n", e.title, to_string(e.cause))
                         : fmt::format("{}  [{}]\n\n", e.title, to_string(e.cause));
  if (e.first) text += row("where", where(*e.first, how.guessed));
  if (e.first && e.first->old_text != e.first->new_text) {
    text += side("old", e.first->old_text, e.first->old_at, how.colour, "31");
    text += side("new", e.first->new_text, e.first->new_at, how.colour, "32");
  }
  if (e.cause != Cause::first_turn) text += row("cost", cost(e));
  if (!e.kept_reply.empty()) text += row("reply", e.kept_reply);
  if (!e.detail.empty()) text += row("why", wrapped(e.detail));
  if (!e.remedy.empty()) text += row("remedy", wrapped(e.remedy));
  for (const AppliedRule& rule : how.rules) {
    text += row("rule", wrapped(fmt::format("{} replaced {} value{} in messages[{}].{}", rule.name,
                                            rule.times, rule.times == 1 ? "" : "s", rule.message,
                                            rule.field)));
  }
  if (how.guessed) {
    text += "\n" + row("note", wrapped("Tokens and bytes are estimates, at four bytes a token. "
                                       "With -m MODEL.gguf they are those of the model's own "
                                       "template and tokeniser."));
  }
  return text;
}

}  // namespace samovar::app
