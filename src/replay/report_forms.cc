// A replay's report as a table, JSON and CSV.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/csv_field.h"
#include "replay/plain_text.h"
#include "replay/replay_report.h"
#include "replay/report_columns.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr Micros kLateMin = 500 * kMillisecond;  // that is worth a line
constexpr const char* kUnknown = "–";

std::string shown(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : kUnknown;
}
std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : kUnknown;
}

template <class Value>
Json json_of(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

std::string turn_row(const TraceTurn& line, const TurnResult& turn) {
  std::string row = fmt::format("{:<24.24} {:<8}", line.id, to_string(turn.outcome));
  for (const PhaseColumn& phase : phase_columns()) {
    row += fmt::format(" {:>8}", shown(turn.*phase.value));
  }
  for (const TokenColumn& tokens : token_columns()) {
    row += fmt::format(" {:>8}", shown(turn.*tokens.value));
  }
  if (!turn.miss.empty()) row += "  " + turn.miss;
  if (turn.sameness == Sameness::differs) row += "  differs " + turn.difference;
  if (turn.error) row += "  " + turn.error->describe();
  return row + "\n";
}

std::string turns_table(const Trace& trace, const ReplayRun& run) {
  std::string out = fmt::format("{:<24} {:<8}", "turn", "outcome");
  for (const PhaseColumn& phase : phase_columns()) out += fmt::format(" {:>8}", phase.name);
  for (const TokenColumn& tokens : token_columns()) out += fmt::format(" {:>8}", tokens.name);
  out += "\n";
  for (std::size_t i = 0; i < run.turns.size(); ++i) {
    out += turn_row(trace.turns[i], run.turns[i]);
  }
  return out + "\n";
}

// Turns that failed or differ, which a summary must not hide.
std::string troubles(const Trace& trace, const ReplayRun& run) {
  constexpr std::size_t kMost = 10;
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < run.turns.size(); ++i) {
    const TurnResult& turn = run.turns[i];
    if (!turn.error && turn.sameness != Sameness::differs) continue;
    if (++count > kMost) continue;
    out += fmt::format("  turn {}: {}\n", trace.turns[i].id,
                       turn.error ? turn.error->describe() : "differs " + turn.difference);
  }
  if (count > kMost) out += fmt::format("  and {} more\n", count - kMost);
  return out;
}

std::string summary_text(const RunSummary& s) {
  std::string out = fmt::format("turns      {} whole, {} cut, {} failed, {} left out; {:.1f} s\n",
                                s.whole, s.cut, s.failed, s.left_out, to_ms(s.took) / 1000.0);
  out += fmt::format("tokens     {} of prompts = {} reused + {} computed; {} of replies\n",
                     shown(s.prompt), shown(s.reused), shown(s.computed), shown(s.replied));
  out += fmt::format(
      "beyond     {} tokens computed beyond the new ones in {} of {} turns that tell, "
      "{} at most in one\n",
      shown(s.beyond), s.beyond_counted, s.turns, shown(s.beyond_max));
  for (const auto& [miss, count] : s.misses) out += fmt::format("miss       {}: {}\n", miss, count);
  if (s.compared > 0) {
    out +=
        fmt::format("equal      {} of {} turns as in run 1; {} differ, {} follow one that does\n",
                    s.equal, s.compared, s.differing, s.after_difference);
  }
  if (s.late_max >= kLateMin) {
    out += fmt::format("late       requests were made up to {:.1f} s after they were due\n",
                       to_ms(s.late_max) / 1000.0);
  }
  out += fmt::format("\n{:<10} {:>10} {:>10} {:>10} {:>8}\n", "ms", "p50", "p90", "p99", "turns");
  for (const PhaseColumn& phase : phase_columns()) {
    const auto found = s.phases.find(phase.name);
    if (found == s.phases.end()) {
      out += fmt::format("{:<10} {:>10} {:>10} {:>10} {:>8}\n", phase.name, kUnknown, kUnknown,
                         kUnknown, 0);
      continue;
    }
    const bench::Summary& spread = found->second;
    out += fmt::format("{:<10} {:>10.1f} {:>10.1f} {:>10.1f} {:>8}\n", phase.name, spread.median,
                       spread.p90, spread.p99, spread.count);
  }
  return out;
}

Json summary_json(const RunSummary& s) {
  Json json;
  json["turns"] = s.turns;
  json["whole"] = s.whole;
  json["cut"] = s.cut;
  json["failed"] = s.failed;
  json["left_out"] = s.left_out;
  json["took_ms"] = to_ms(s.took);
  json["late_max_ms"] = to_ms(s.late_max);
  Json& tokens = json["tokens"];
  tokens["prompt"] = json_of(s.prompt);
  tokens["reused"] = json_of(s.reused);
  tokens["computed"] = json_of(s.computed);
  tokens["reply"] = json_of(s.replied);
  tokens["new"] = json_of(s.fresh);
  tokens["beyond"] = json_of(s.beyond);
  tokens["beyond_max"] = json_of(s.beyond_max);
  tokens["beyond_turns"] = s.beyond_counted;
  Json& phases = json["phases_ms"] = Json::object();
  for (const PhaseColumn& phase : phase_columns()) {
    const auto found = s.phases.find(phase.name);
    phases[phase.name] = found == s.phases.end() ? Json()
                                                 : Json{{"count", found->second.count},
                                                        {"p50", found->second.median},
                                                        {"p90", found->second.p90},
                                                        {"p99", found->second.p99}};
  }
  json["misses"] = s.misses;
  json["equality"] = {{"compared", s.compared},
                      {"equal", s.equal},
                      {"differ", s.differing},
                      {"after_difference", s.after_difference}};
  return json;
}

Json turn_json(const TraceTurn& line, const TurnResult& turn) {
  Json json;
  json["id"] = line.id;
  json["session"] = line.session;
  json["outcome"] = to_string(turn.outcome);
  for (const PhaseColumn& phase : phase_columns()) {
    json[std::string(phase.name) + "_ms"] = json_of(turn.*phase.value);
  }
  for (const TokenColumn& tokens : token_columns()) {
    json[std::string(tokens.name) + "_tokens"] = json_of(turn.*tokens.value);
  }
  json["beyond_by"] = !turn.beyond ? Json() : Json(turn.beyond_by_server ? "server" : "counts");
  json["miss"] = turn.miss.empty() ? Json() : Json(turn.miss);
  json["sameness"] = to_string(turn.sameness);
  if (!turn.difference.empty()) json["difference"] = turn.difference;
  if (turn.error) json["error"] = turn.error->describe();
  return json;
}

template <class Value>
std::string csv_of(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::span<const PhaseColumn> phase_columns() {
  static constexpr std::array<PhaseColumn, 7> columns = {{{"queue", &TurnResult::queue},
                                                          {"render", &TurnResult::render},
                                                          {"restore", &TurnResult::restore},
                                                          {"prefill", &TurnResult::prefill},
                                                          {"first", &TurnResult::first},
                                                          {"decode", &TurnResult::decode},
                                                          {"total", &TurnResult::total}}};
  return columns;
}

std::span<const TokenColumn> token_columns() {
  static constexpr std::array<TokenColumn, 6> columns = {{{"prompt", &TurnResult::prompt},
                                                          {"new", &TurnResult::fresh},
                                                          {"reused", &TurnResult::reused},
                                                          {"computed", &TurnResult::computed},
                                                          {"beyond", &TurnResult::beyond},
                                                          {"reply", &TurnResult::replied}}};
  return columns;
}

std::string report_text(const Trace& trace, const std::vector<ReplayRun>& runs, bool every_turn) {
  std::string out;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    out += fmt::format("{}run {} of {}\n\n", r == 0 ? "" : "\n", r + 1, runs.size());
    if (every_turn) out += turns_table(trace, runs[r]);
    out += summary_text(summarise_run(runs[r]));
    if (!every_turn) out += troubles(trace, runs[r]);
  }
  return plain_text(out);
}

std::string report_json(const Trace& trace, const std::vector<ReplayRun>& runs) {
  Json json;
  json["format"] = "samovar.replay";
  json["version"] = 1;
  Json& list = json["runs"] = Json::array();
  for (const ReplayRun& run : runs) {
    Json each = {{"summary", summary_json(summarise_run(run))}};
    Json& turns = each["turns"] = Json::array();
    for (std::size_t i = 0; i < run.turns.size(); ++i) {
      turns.push_back(turn_json(trace.turns[i], run.turns[i]));
    }
    list.push_back(std::move(each));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_csv(const Trace& trace, const std::vector<ReplayRun>& runs) {
  std::string out = "run,turn,session,outcome";
  for (const PhaseColumn& phase : phase_columns()) out += fmt::format(",{}_ms", phase.name);
  for (const TokenColumn& tokens : token_columns()) out += fmt::format(",{}_tokens", tokens.name);
  out += ",miss,sameness,error\n";
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].turns.size(); ++i) {
      const TurnResult& turn = runs[r].turns[i];
      const TraceTurn& line = trace.turns[i];
      out += fmt::format("{},{},{},{}", r + 1, bench::csv_field(line.id),
                         bench::csv_field(line.session), to_string(turn.outcome));
      for (const PhaseColumn& phase : phase_columns()) out += "," + csv_of(turn.*phase.value);
      for (const TokenColumn& tokens : token_columns()) out += "," + csv_of(turn.*tokens.value);
      out += fmt::format(",{},{},{}\n", bench::csv_field(turn.miss), to_string(turn.sameness),
                         bench::csv_field(turn.error ? turn.error->describe() : ""));
    }
  }
  return out;
}

}  // namespace samovar::replay
