#include "bench/html_report.h"

#include <fmt/format.h>

#include <cctype>

#include "bench/html_style.h"
#include "bench/report_charts.h"
#include "bench/step_text.h"
#include "bench/svg.h"

namespace samovar::bench {
namespace {

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// "137 ms (123 to 172, n 11)": the spread in a line of its own.
std::string cell(const std::string& word) {
  const std::size_t bracket = word.find(" (");
  if (bracket == std::string::npos) return escape_markup(word);
  return fmt::format("{} <span class=\"spread-text\">{}</span>",
                     escape_markup(word.substr(0, bracket)),
                     escape_markup(word.substr(bracket + 1)));
}

std::string verdict_class(Verdict verdict) {
  if (verdict == Verdict::better) return " class=\"better\"";
  return verdict == Verdict::loses ? " class=\"loses\"" : "";
}

std::string table_of(const Table& table, const Section& section) {
  std::string html = "<div class=\"scroll\"><table>\n<tr>";
  for (const std::string& word : table.header) {
    html += fmt::format("<th scope=\"col\">{}</th>", escape_markup(word));
  }
  html += "</tr>\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    html += "<tr>";
    for (std::size_t j = 0; j < table.rows[i].size(); ++j) {
      const bool ratio = table.header[j] == "ratio";
      html += fmt::format("<td{}>{}</td>", ratio ? verdict_class(section.rows[i].verdict) : "",
                          cell(table.rows[i][j]));
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

// Markdown of the user's: paragraphs and `code`, no more.
std::string paragraphs(const std::string& text) {
  std::string html = "<p>";
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') {
      html += code ? "</code>" : "<code>";
      code = !code;
    } else if (text.compare(i, 2, "\n\n") == 0) {
      html += "</p>\n<p>";
      ++i;
    } else {
      html += escape_markup(std::string_view(&text[i], 1));
    }
  }
  return html + (code ? "</code>" : "") + "</p>\n";
}

std::string section_of(const Report& report, const Table& table, const Section& section,
                       const Reasons& reasons) {
  std::string html =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n", to_string(section.step),
                  escape_markup(capital(table.title)), escape_markup(table.about));
  const auto chart = section_chart(report, section);
  html += chart ? "<div class=\"pair two\">\n<div>\n" : "<div class=\"pair\">\n<div>\n";
  html += table_of(table, section);
  for (const std::string& loss : table.losses) {
    html += fmt::format("<p class=\"loss\">{}</p>\n", escape_markup(capital(loss)));
  }
  const auto reason = reasons.find(section.step);
  if (!table.losses.empty() && reason != reasons.end()) html += paragraphs(reason->second);
  for (const std::string& note : table.notes) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", escape_markup(capital(note)));
  }
  html += "</div>\n";
  if (chart) html += "<div class=\"chart\">\n" + draw(*chart) + "</div>\n";
  html += "</div>\n";
  if (const auto parts = parts_chart(report, section)) {
    html +=
        "<h3>Where the time went</h3>\n<p class=\"soft\">The turn in the middle of each, by the "
        "server's own figures; the rest is what they do not account for: HTTP and the client, and "
        "for "
        "a server that names the prompt's time alone its template, tokeniser and queue, too."
        "</p>\n<div class=\"chart\">\n" +
        draw(*parts) + "</div>\n";
  }
  return html + "</section>\n";
}

std::string facts_table(const Report& report) {
  std::string html = "<div class=\"scroll\"><table class=\"facts\">\n";
  for (const auto& [name, value] : facts_of(report)) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_markup(name),
                        escape_markup(value));
  }
  return html + "</table></div>\n";
}

std::string title_of(const Report& report) {
  std::string names;
  for (const ReportTarget& target : report.targets) {
    names += (names.empty() ? "" : " against ") + target.name;
  }
  return "Benchmark: " + names;
}

}  // namespace

std::string html_of(const Report& report, const Reasons& reasons) {
  const std::string title = escape_markup(title_of(report));
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      title, kReportStyle, title);
  html +=
      "<p>Median of the rounds; in brackets the quartiles, or with fewer than five rounds the "
      "least "
      "and the greatest. Times are the client&#39;s. A ratio is the first server&#39;s figure over "
      "the second&#39;s, round by round: below 1 is better for times and bytes, above 1 for rates. "
      "Prefill and decode are never in one figure.</p>\n";
  if (report.stopped) html += "<p class=\"loss\">The run was stopped before its end.</p>\n";
  const std::vector<Section> sections = summarise(report);
  if (const auto chart = first_piece_chart(report, sections)) {
    html +=
        "<section>\n<h2>First token against context</h2>\n<p>How long the first piece of a reply "
        "takes, both axes logarithmic. Bands and bars are the spread.</p>\n"
        "<div class=\"chart\">\n" +
        draw(*chart) + "</div>\n</section>\n";
  }
  const std::vector<Table> tables = make_tables(report);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    html += section_of(report, tables[i], sections[i], reasons);
  }
  html += "<section>\n<h2>What it ran on</h2>\n" + facts_table(report) + "</section>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace samovar::bench
