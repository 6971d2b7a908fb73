// A report as tables of words: one a section, the same for the terminal, for Markdown and for HTML.
// Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/summary.h"

namespace samovar::bench {

struct Table {
  Step step = Step::cold;
  std::string title;
  std::string about;
  std::vector<std::string> header;             // the first column is the context
  std::vector<std::vector<std::string>> rows;  // as wide as the header
  std::vector<std::string> losses;             // where the first target loses, by how much; or none
  std::vector<std::string> notes;              // what was not measured, and why
};

[[nodiscard]] std::vector<Table> make_tables(const Report& report);

// Why the first target loses, by step, as Markdown of the user's.
using Reasons = std::map<Step, std::string>;

// For a terminal of any width: columns are aligned, lines are not broken.
[[nodiscard]] std::string text_of(const Report& report);

// A page with one title. `links`: names of files beside it that have more.
[[nodiscard]] std::string markdown_of(const Report& report, const Reasons& reasons,
                                      const std::vector<std::string>& links);

// "machine: ...", one pair a line of the conditions and targets.
[[nodiscard]] Facts facts_of(const Report& report);

}  // namespace samovar::bench
