#include "bench/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace samovar::bench {
namespace {

constexpr double kEven = 0.02;         // a ratio so near to 1 is no difference
constexpr std::size_t kSaying = 3;     // fewer rounds say nothing about a difference
constexpr std::int64_t kNothing = 64;  // reused tokens that a template's start may be

std::optional<double> median_of(std::vector<double> values) {
  const auto summary = summarise(std::move(values));
  return summary ? std::optional(summary->median) : std::nullopt;
}

// Medians of what the measurements know of it.
template <class Get>
std::optional<double> median_by(const std::vector<const Measurement*>& of, Get get) {
  std::vector<double> values;
  for (const Measurement* each : of) {
    if (const std::optional<double> value = get(*each)) values.push_back(*value);
  }
  return median_of(std::move(values));
}

std::optional<double> number(const std::optional<std::int64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

std::optional<double> server_rate(const Measurement& measured) {
  for (const char* name : {"decode_per_second", "predicted_per_second"}) {
    const auto found = measured.server.find(name);
    if (found != measured.server.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<double> prefill_rate(const Measurement& measured) {
  if (!measured.computed_tokens || !measured.first_ms || *measured.first_ms <= 0) return {};
  return static_cast<double>(*measured.computed_tokens) * 1000 / *measured.first_ms;
}

std::optional<double> per_token(const Measurement& measured) {
  if (!measured.bytes || !measured.computed_tokens || !measured.reply_tokens) return std::nullopt;
  const std::int64_t tokens = *measured.computed_tokens + *measured.reply_tokens;
  if (tokens <= 0) return std::nullopt;
  return static_cast<double>(*measured.bytes) / static_cast<double>(tokens);
}

// Why a measurement that was made has no value.
std::string no_value(Step step, const Measurement& measured) {
  const std::int64_t tokens = measured.reply_tokens.value_or(0);
  if (step != Step::decode || measured.pieces < 2) return "no piece of a reply came";
  if (!measured.reply_tokens) return "the server does not count a reply's tokens";
  if (!pieces_hold_several(tokens, measured.pieces)) return "all of the reply came at once";
  return fmt::format("{} tokens came in {} pieces", tokens, measured.pieces);
}

// A server of which nothing came back after a restart has no files that could be in the page cache
// or not: its measurements with them in it hold for both.
bool holds_for_both(const std::vector<const Measurement*>& warm) {
  const auto nothing = [](const Measurement* each) {
    return each->measured() && each->reused_tokens && *each->reused_tokens <= kNothing;
  };
  return !warm.empty() && std::ranges::all_of(warm, nothing);
}

Cell cell_of(Step step, const std::vector<const Measurement*>& of) {
  Cell cell;
  std::vector<double> values;
  for (const Measurement* each : of) {
    if (const auto value = value_of(*each)) values.push_back(*value);
    if (cell.missing.empty()) cell.missing = each->missing;
  }
  cell.value = summarise(std::move(values));
  if (of.empty()) cell.missing = "the run ended before it";
  for (const Measurement* each : of) {
    if (cell.missing.empty() && !value_of(*each)) cell.missing = no_value(step, *each);
  }
  cell.prompt_tokens = median_by(of, [](const auto& each) { return number(each.prompt_tokens); });
  cell.computed_tokens =
      median_by(of, [](const auto& each) { return number(each.computed_tokens); });
  if (step == Step::cold) cell.prefill_per_second = median_by(of, prefill_rate);
  if (step == Step::decode) cell.server_per_second = median_by(of, server_rate);
  if (step == Step::write) cell.bytes_per_token = median_by(of, per_token);
  return cell;
}

// Of rounds in which both were measured. With sessions, each session of a round is a pair.
std::optional<Summary> ratio_of(const std::vector<const Measurement*>& ours,
                                const std::vector<const Measurement*>& theirs) {
  std::vector<double> ratios;
  std::map<int, std::vector<double>> by_round;
  for (const Measurement* each : theirs) {
    if (const auto value = value_of(*each)) by_round[each->round].push_back(*value);
  }
  std::map<int, std::size_t> next;
  for (const Measurement* each : ours) {
    const auto value = value_of(*each);
    const auto round = by_round.find(each->round);
    if (!value || round == by_round.end()) continue;
    const std::size_t at = next[each->round]++;
    if (at < round->second.size() && round->second[at] > 0) {
      ratios.push_back(*value / round->second[at]);
    }
  }
  return summarise(std::move(ratios));
}

Verdict verdict_of(const std::optional<Summary>& ratio, Unit unit) {
  if (!ratio) return Verdict::none;
  if (ratio->count < kSaying || (ratio->low() <= 1 && ratio->high() >= 1)) return Verdict::even;
  const double more = unit == Unit::tokens_per_second ? 1 - ratio->median : ratio->median - 1;
  if (more > kEven) return Verdict::loses;
  return more < -kEven ? Verdict::better : Verdict::even;
}

}  // namespace

Unit unit_of(Step step) {
  if (step == Step::decode) return Unit::tokens_per_second;
  return step == Step::write ? Unit::bytes : Unit::milliseconds;
}

std::optional<double> value_of(const Measurement& measurement) {
  switch (unit_of(measurement.step)) {
    case Unit::tokens_per_second:
      return measurement.decode_per_second;
    case Unit::bytes:
      if (!measurement.bytes) return std::nullopt;
      return static_cast<double>(*measurement.bytes);
    default:
      return measurement.first_ms;
  }
}

std::vector<Section> summarise(const Report& report) {
  using Place = std::tuple<Step, std::int64_t, std::int64_t>;
  std::map<Place, std::map<std::string, std::vector<const Measurement*>>> places;
  for (const Measurement& each : report.measurements) {
    places[{each.step, each.depth, each.sessions}][each.target].push_back(&each);
  }
  const auto warm_of = [&](std::int64_t depth, const std::string& target) {
    const auto warm = places.find({Step::restart_warm, depth, 1});
    if (warm == places.end()) return std::vector<const Measurement*>();
    const auto found = warm->second.find(target);
    return found == warm->second.end() ? std::vector<const Measurement*>() : found->second;
  };
  std::vector<Section> sections;
  for (const auto& [place, by_target] : places) {
    const auto& [step, depth, sessions] = place;
    if (sections.empty() || sections.back().step != step) {
      sections.push_back({step, unit_of(step), {}});
    }
    Row row{.depth = depth, .sessions = sessions};
    std::vector<std::vector<const Measurement*>> of;
    for (const ReportTarget& target : report.targets) {
      const auto found = by_target.find(target.name);
      of.push_back(found == by_target.end() ? std::vector<const Measurement*>() : found->second);
      const bool stands = step == Step::restart_cold && !of.back().empty() &&
                          std::ranges::none_of(of.back(), &Measurement::measured) &&
                          holds_for_both(warm_of(depth, target.name));
      if (stands) of.back() = warm_of(depth, target.name);
      row.cells.push_back(cell_of(step, of.back()));
      row.cells.back().stands_for_both = stands;
    }
    if (of.size() > 1) row.ratio = ratio_of(of[0], of[1]);
    row.verdict = verdict_of(row.ratio, sections.back().unit);
    sections.back().rows.push_back(std::move(row));
  }
  return sections;
}

std::vector<Part> parts_of(const Measurement& measurement) {
  std::vector<Part> parts;
  if (!measurement.first_ms) return parts;
  double known = 0;
  for (const auto& [key, name] : {std::pair{"render_ms", "render"},
                                  {"queue_ms", "queue"},
                                  {"plan_ms", "plan"},
                                  {"restore_ms", "restore"},
                                  {"prefill_ms", "prefill"},
                                  {"prompt_ms", "prefill"}}) {
    const auto found = measurement.server.find(key);
    if (found == measurement.server.end()) continue;
    parts.push_back({name, found->second});
    known += found->second;
  }
  parts.push_back({"rest", std::max(0.0, *measurement.first_ms - known)});
  return parts;
}

const Measurement* middle_of(const Report& report, Step step, std::int64_t depth,
                             std::int64_t sessions, const std::string& target) {
  std::vector<const Measurement*> all;
  for (const Measurement& each : report.measurements) {
    if (each.step == step && each.depth == depth && each.sessions == sessions &&
        each.target == target && each.first_ms) {
      all.push_back(&each);
    }
  }
  if (all.empty()) return nullptr;
  std::ranges::stable_sort(all, {}, [](const Measurement* each) { return *each->first_ms; });
  return all[(all.size() - 1) / 2];
}

}  // namespace samovar::bench
