// A report as a page of Markdown.
#include <fmt/format.h>

#include <cctype>

#include "bench/step_text.h"
#include "bench/tables.h"

namespace samovar::bench {
namespace {

std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

std::string line(const std::vector<std::string>& words) {
  std::string text = "|";
  for (const std::string& word : words) text += " " + cell(word) + " |";
  return text + "\n";
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string title_of(const Report& report) {
  std::string names;
  for (const ReportTarget& target : report.targets) {
    names += (names.empty() ? "" : " against ") + target.name;
  }
  return capital(names);
}

}  // namespace

std::string markdown_of(const Report& report, const Reasons& reasons,
                        const std::vector<std::string>& links) {
  std::string text = "# Benchmark: " + title_of(report) + "\n\n";
  text +=
      "Median of the rounds; in brackets the quartiles, or with fewer than five rounds the least "
      "and the greatest. Times are the client's. A ratio is the first server's figure over the "
      "second's, taken round by round: below 1 is better for times and bytes, above 1 for rates. "
      "Prefill and decode are never in one figure.\n";
  if (report.stopped) text += "\nThe run was stopped before its end.\n";
  if (!links.empty()) {
    text += "\nMore:";
    for (const std::string& link : links) text += fmt::format(" [{0}]({0})", link);
    text += "\n";
  }
  text += "\n## What it ran on\n\n| | |\n|---|---|\n";
  for (const auto& [name, value] : facts_of(report)) text += line({name, value});
  for (const Table& table : make_tables(report)) {
    text += fmt::format("\n## {}\n\n{}\n\n", capital(table.title), table.about);
    text += line(table.header) + "|";
    for (std::size_t i = 0; i < table.header.size(); ++i) text += "---|";
    text += "\n";
    for (const auto& row : table.rows) text += line(row);
    for (const std::string& loss : table.losses) text += "\n" + capital(loss) + "\n";
    const auto reason = reasons.find(table.step);
    if (!table.losses.empty() && reason != reasons.end()) text += "\n" + reason->second + "\n";
    if (!table.losses.empty() && reason == reasons.end()) {
      text += fmt::format("\nThe reason is not known yet: it belongs into notes/{}.md.\n",
                          to_string(table.step));
    }
    for (const std::string& note : table.notes) text += "\n" + capital(note) + "\n";
  }
  return text;
}

}  // namespace samovar::bench
