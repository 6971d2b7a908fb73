#include "bench/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size_text.h"
#include "bench/step_text.h"

namespace samovar::bench {
namespace {

std::string value_text(double value, Unit unit) {
  switch (unit) {
    case Unit::milliseconds:
      return ms_text(value);
    case Unit::tokens_per_second:
      return rate_text(value);
    case Unit::bytes:
      break;
  }
  return format_bytes(static_cast<std::uint64_t>(value));
}

std::string summary_text(const Summary& summary, Unit unit) {
  if (summary.count == 1) return value_text(summary.median, unit) + " (n 1)";
  std::string low = value_text(summary.low(), unit);
  const std::string high = value_text(summary.high(), unit);
  const std::string median = value_text(summary.median, unit);
  const auto unit_word = [](const std::string& text) {
    const std::size_t blank = text.find(' ');
    return blank == std::string::npos ? std::string() : text.substr(blank);
  };
  // A unit that all three have is said once.
  if (unit_word(median) == unit_word(high) && unit_word(low) == unit_word(high)) {
    low.resize(low.size() - unit_word(low).size());
    return fmt::format("{} ({} to {}, n {})", median, low,
                       high.substr(0, high.size() - unit_word(high).size()), summary.count);
  }
  return fmt::format("{} ({} to {}, n {})", median, low, high, summary.count);
}

std::string ratio_cell(const std::optional<Summary>& ratio) {
  if (!ratio) return "-";
  if (ratio->count == 1) return ratio_text(ratio->median);
  return fmt::format("{} ({} to {})", ratio_text(ratio->median), ratio_text(ratio->low()),
                     ratio_text(ratio->high()));
}

std::string with_commas(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

const char* second_header(Step step) {
  if (step == Step::cold) return "tok/s";
  if (step == Step::decode) return "server says";
  return step == Step::write ? "a new token" : "computed";
}

std::string second_cell(Step step, const Cell& cell) {
  if (step == Step::cold) {
    return cell.prefill_per_second ? with_commas(*cell.prefill_per_second) : "-";
  }
  if (step == Step::decode)
    return cell.server_per_second ? rate_text(*cell.server_per_second) : "-";
  if (step == Step::write) {
    return cell.bytes_per_token
               ? format_bytes(static_cast<std::uint64_t>(std::lround(*cell.bytes_per_token)))
               : "-";
  }
  return cell.computed_tokens ? with_commas(*cell.computed_tokens) : "-";
}

std::string context_cell(const Row& row) {
  std::string text = tokens_text(row.depth);
  if (row.sessions > 1) text = fmt::format("{} x {}", row.sessions, text);
  for (const Cell& cell : row.cells) {
    if (cell.prompt_tokens) return fmt::format("{} ({})", text, with_commas(*cell.prompt_tokens));
  }
  return text;
}

// "ours loses at 1k (1.20 times as long as theirs), at 10k (1.40)."
void add_loss(const Report& report, const Row& row, Unit unit, std::string& text) {
  const std::string times = ratio_text(row.ratio->median);
  if (!text.empty()) {
    text += fmt::format(", at {} ({})", tokens_text(row.depth), times);
    return;
  }
  const std::string& theirs = report.targets[1].name;
  std::string than = fmt::format("{} times as long as {}", times, theirs);
  if (unit == Unit::tokens_per_second) than = fmt::format("{} times the rate of {}", times, theirs);
  if (unit == Unit::bytes) than = fmt::format("{} times the bytes of {}", times, theirs);
  text = fmt::format("{} loses at {} ({})", report.targets[0].name, tokens_text(row.depth), than);
}

// What is not measured, with all depths for which the reason is the same.
class Notes {
 public:
  void add(const std::string& target, std::int64_t depth, const std::string& why) {
    for (Note& note : notes_) {
      if (note.target != target || note.why != why) continue;
      note.depths += ", " + tokens_text(depth);
      return;
    }
    notes_.push_back({target, why, tokens_text(depth)});
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    lines.reserve(notes_.size());
    for (const Note& note : notes_) {
      lines.push_back(fmt::format("{} at {}: {}", note.target, note.depths, note.why));
    }
    return lines;
  }

 private:
  struct Note {
    std::string target;
    std::string why;
    std::string depths;
  };
  std::vector<Note> notes_;
};

Table table_of(const Report& report, const Section& section) {
  Table table{
      .step = section.step, .title = step_title(section.step), .about = step_about(section.step)};
  table.header = {"context"};
  for (const ReportTarget& target : report.targets) {
    table.header.push_back(section.unit == Unit::tokens_per_second ? target.name + ", tok/s"
                                                                   : target.name);
    table.header.emplace_back(second_header(section.step));
  }
  const bool pair = report.targets.size() > 1;
  if (pair) table.header.emplace_back("ratio");
  Notes notes;
  std::string loss;
  for (const Row& row : section.rows) {
    std::vector<std::string> words = {context_cell(row)};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      words.push_back(cell.value ? summary_text(*cell.value, section.unit) : "not measured");
      words.push_back(cell.value ? second_cell(section.step, cell) : "-");
      if (cell.stands_for_both) {
        notes.add(report.targets[i].name, row.depth,
                  "its figure with the files in the page cache, of which nothing came from files");
      }
      if (cell.missing.empty()) continue;
      notes.add(report.targets[i].name, row.depth,
                (cell.value ? "not all rounds: " : "not measured: ") + cell.missing);
    }
    if (pair) words.push_back(ratio_cell(row.ratio));
    table.rows.push_back(std::move(words));
    if (row.verdict == Verdict::loses) add_loss(report, row, section.unit, loss);
  }
  if (!loss.empty()) table.losses.push_back(loss + ".");
  table.notes = notes.lines();
  return table;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

}  // namespace

std::vector<Table> make_tables(const Report& report) {
  std::vector<Table> tables;
  for (const Section& section : summarise(report)) tables.push_back(table_of(report, section));
  return tables;
}

Facts facts_of(const Report& report) {
  Facts facts = report.conditions;
  for (const ReportTarget& target : report.targets) {
    const TargetFacts& known = target.facts;
    std::vector<std::string> words;
    if (!known.server.empty()) words.push_back(known.server);
    std::string model = known.model.empty() ? "a model it does not name" : "model " + known.model;
    if (!known.architecture.empty()) model += " (" + known.architecture + ")";
    words.push_back(std::move(model));
    if (known.parameters) {
      words.push_back(
          fmt::format("{:.1f}M parameters", static_cast<double>(*known.parameters) / 1e6));
    }
    if (known.model_bytes) words.push_back(format_bytes(*known.model_bytes));
    if (known.context) words.push_back(fmt::format("context {} tokens", *known.context));
    facts.emplace_back(target.name, joined(words, ", "));
    if (!known.flags.empty()) {
      facts.emplace_back("flags of " + target.name, joined(known.flags, " "));
    }
  }
  return facts;
}

std::string text_of(const Report& report) {
  std::string text;
  for (const Table& table : make_tables(report)) {
    std::vector<std::size_t> widths;
    widths.reserve(table.header.size());
    for (const std::string& word : table.header) widths.push_back(word.size());
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    const auto line = [&](const std::vector<std::string>& words) {
      std::string made = " ";
      for (std::size_t i = 0; i < words.size(); ++i) {
        made += fmt::format(" {:<{}} ", words[i], widths[i]);
      }
      return made.substr(0, made.find_last_not_of(' ') + 1) + "\n";
    };
    text += fmt::format("\n{}\n{}\n", table.title, line(table.header));
    text.pop_back();
    for (const auto& row : table.rows) text += line(row);
    for (const std::string& loss : table.losses) text += "  " + loss + "\n";
    for (const std::string& note : table.notes) text += "  " + note + "\n";
  }
  if (report.stopped) text += "\nThe run was stopped before its end.\n";
  return text;
}

}  // namespace samovar::bench
