#include "client/user_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace samovar::client {
namespace {

constexpr std::string_view kQuotes = "\"\"\"";

constexpr std::array<CommandHelp, 14> kCommands = {{
    {"help", "", "this list"},
    {"sessions", "", "the saved conversations, newest first"},
    {"resume", "[NAME|NUMBER]", "go on with one of them; alone: the newest other one"},
    {"new", "", "begin another conversation"},
    {"retry", "", "send the last message again; the old reply stays in the transcript"},
    {"edit", "[N]", "change your N-th last message (1: the last) and go on from there"},
    {"why", "", "what the last turn computed again, and what to do about it"},
    {"system", "[TEXT|-]", "show the system text, set it, or remove it"},
    {"history", "", "the conversation so far"},
    {"save", "FILE", "write it into a new file; FILE.json: as messages in JSON"},
    {"stats", "", "tokens of this conversation: reused, computed, generated"},
    {"tokens", "", "the same"},
    {"quit", "", "leave; everything is kept"},
    {"exit", "", "the same"},
}};

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

UserInput parse_input(std::string_view text) {
  UserInput input;
  if (text.starts_with("//") || text.starts_with(" /")) {
    input.message = text.substr(1);
  } else if (text.starts_with('/') && text.find('\n') == std::string_view::npos) {
    const std::size_t end = text.find(' ');
    input.command = trimmed(text.substr(1, end == std::string_view::npos ? end : end - 1));
    if (end != std::string_view::npos) input.argument = trimmed(text.substr(end));
    if (input.command.empty()) input.command = "help";
  } else {
    input.message = text;
  }
  return input;
}

std::string commands_help() {
  std::string text;
  for (const CommandHelp& command : kCommands) {
    const std::string head = fmt::format("/{} {}", command.name, command.argument);
    text += fmt::format("  {:<24}{}\n", head, command.about);
  }
  text +=
      "  A line that ends with \\ goes on; \"\"\" begins and ends a block of lines; pasting "
      "works.\n"
      "  A message that begins with a slash: put a blank before it.\n"
      "  Ctrl-C while it answers: stops it and keeps what came. Typing a message then does too.\n"
      "  Ctrl-C here: clears the line, twice: leaves. Ctrl-D leaves.\n";
  return text;
}

std::string unknown_command(std::string_view name) {
  const CommandHelp* best = nullptr;
  std::size_t least = 3;  // further away is no typing error
  for (const CommandHelp& command : kCommands) {
    const bool begins = name.size() >= 2 && command.name.starts_with(name);
    const std::size_t far = begins ? 0 : distance(name, command.name);
    if (far >= least) continue;
    least = far;
    best = &command;
  }
  std::string text = fmt::format("there is no command /{}", name);
  if (best != nullptr) text += fmt::format(": did you mean /{}?", best->name);
  return text + (best == nullptr ? ": " : " ") +
         "/help lists them; to send it as a message, put a blank before the slash";
}

bool LineGatherer::add(std::string_view line) {
  if (!open_ && line.starts_with(kQuotes)) {
    line.remove_prefix(kQuotes.size());
    block_ = open_ = true;
    if (line.empty()) return false;
  } else if (open_) {
    if (!text_.empty() || !block_) text_ += '\n';
  }
  if (block_) {
    if (trimmed(line).ends_with(kQuotes)) {
      std::string_view last = trimmed(line);
      last.remove_suffix(kQuotes.size());
      text_ += last;
      if (last.empty() && text_.ends_with('\n')) text_.pop_back();
      block_ = open_ = false;
      return true;
    }
    text_ += line;
    return false;
  }
  open_ = line.ends_with('\\');
  if (open_) line.remove_suffix(1);
  text_ += line;
  return !open_;
}

std::string LineGatherer::take() {
  open_ = block_ = false;
  return std::exchange(text_, {});
}

}  // namespace samovar::client
