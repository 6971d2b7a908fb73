#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/csv_field.h"
#include "bench/step_text.h"

namespace samovar::bench {
namespace {

std::string field(const std::string& text) { return csv_field(text); }

template <class T>
std::string field(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string steps_of(const Report& report) {
  std::set<Step> steps;
  for (const Measurement& each : report.measurements) steps.insert(each.step);
  std::string text;
  for (const Step step : steps) text += (text.empty() ? "" : ", ") + std::string(step_title(step));
  return text;
}

template <class List, class Name>
auto find_named(List& list, const Name& name) {
  return std::ranges::find_if(list, [&](const auto& each) { return each.first == name; });
}

}  // namespace

Report merged(std::vector<Report> reports) {
  Report whole;
  for (Report& report : reports) {
    const std::string steps = steps_of(report);
    for (auto& [name, value] : report.conditions) {
      const auto known = find_named(whole.conditions, name);
      if (known == whole.conditions.end()) {
        whole.conditions.emplace_back(name, value);
      } else if (known->second != value) {
        const std::string special = fmt::format("{} ({})", name, steps);
        if (find_named(whole.conditions, special) == whole.conditions.end()) {
          whole.conditions.emplace_back(special, value);
        }
      }
    }
    for (ReportTarget& target : report.targets) {
      const auto known = std::ranges::find_if(
          whole.targets, [&](const ReportTarget& each) { return each.name == target.name; });
      if (known == whole.targets.end()) {
        whole.targets.push_back(std::move(target));
      } else if (known->facts.flags != target.facts.flags && !target.facts.flags.empty()) {
        std::string flags;
        for (const std::string& flag : target.facts.flags)
          flags += (flags.empty() ? "" : " ") + flag;
        whole.conditions.emplace_back(fmt::format("flags of {} ({})", target.name, steps), flags);
      }
    }
    std::ranges::move(report.measurements, std::back_inserter(whole.measurements));
    whole.stopped = whole.stopped || report.stopped;
  }
  return whole;
}

std::string to_csv(const Report& report) {
  std::set<std::string> names;
  for (const Measurement& each : report.measurements) {
    for (const auto& [name, value] : each.server) names.insert(name);
  }
  std::string text =
      "step,depth,sessions,round,order,target,first_ms,total_ms,decode_per_second,prompt_tokens,"
      "reused_tokens,computed_tokens,reply_tokens,pieces,source,bytes,missing";
  for (const std::string& name : names) text += "," + field("server_" + name);
  text += "\n";
  for (const Measurement& each : report.measurements) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", to_string(each.step),
                        each.depth, each.sessions, each.round, each.order, field(each.target),
                        field(each.first_ms), field(each.total_ms), field(each.decode_per_second),
                        field(each.prompt_tokens), field(each.reused_tokens),
                        field(each.computed_tokens), field(each.reply_tokens), each.pieces,
                        field(each.source), field(each.bytes), field(each.missing));
    for (const std::string& name : names) {
      const auto found = each.server.find(name);
      text += found == each.server.end() ? "," : fmt::format(",{}", found->second);
    }
    text += "\n";
  }
  return text;
}

}  // namespace samovar::bench
