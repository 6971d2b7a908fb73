// The JSON of a report; docs/bench.md documents it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/report.h"
#include "bench/summary.h"

namespace samovar::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

template <class T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

void put(Json& json, const char* name, const std::string& value) {
  if (!value.empty()) json[name] = value;
}

template <class T>
void get(const Json& json, const char* name, std::optional<T>& value) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_number()) value = found->get<T>();
}

template <class T>
void get(const Json& json, const char* name, T& value) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_number()) value = found->get<T>();
}

void get(const Json& json, const char* name, std::string& value) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_string()) value = found->get<std::string>();
}

Json json_of(const ReportTarget& target) {
  Json json = {{"name", target.name}};
  const TargetFacts& facts = target.facts;
  put(json, "server", facts.server);
  put(json, "model", facts.model);
  put(json, "architecture", facts.architecture);
  put(json, "parameters", facts.parameters);
  put(json, "model_bytes", facts.model_bytes);
  put(json, "context", facts.context);
  if (!facts.flags.empty()) json["flags"] = facts.flags;
  return json;
}

ReportTarget target_of(const Json& json) {
  ReportTarget target;
  get(json, "name", target.name);
  get(json, "server", target.facts.server);
  get(json, "model", target.facts.model);
  get(json, "architecture", target.facts.architecture);
  get(json, "parameters", target.facts.parameters);
  get(json, "model_bytes", target.facts.model_bytes);
  get(json, "context", target.facts.context);
  const auto flags = json.find("flags");
  if (flags == json.end() || !flags->is_array()) return target;
  for (const Json& flag : *flags) {
    if (flag.is_string()) target.facts.flags.push_back(flag.get<std::string>());
  }
  return target;
}

Json json_of(const Measurement& each) {
  Json json = {{"step", to_string(each.step)}, {"depth", each.depth}, {"sessions", each.sessions},
               {"round", each.round},          {"order", each.order}, {"target", each.target}};
  put(json, "missing", each.missing);
  if (!each.measured()) return json;
  put(json, "first_ms", each.first_ms);
  put(json, "total_ms", each.total_ms);
  put(json, "decode_per_second", each.decode_per_second);
  put(json, "prompt_tokens", each.prompt_tokens);
  put(json, "reused_tokens", each.reused_tokens);
  put(json, "computed_tokens", each.computed_tokens);
  put(json, "reply_tokens", each.reply_tokens);
  json["pieces"] = each.pieces;
  put(json, "source", each.source);
  put(json, "bytes", each.bytes);
  if (!each.server.empty()) json["server"] = each.server;
  return json;
}

std::optional<Measurement> measurement_in(const Json& json) {
  Measurement each;
  std::string step;
  get(json, "step", step);
  const auto known = step_of(step);
  if (!known) return std::nullopt;
  each.step = *known;
  get(json, "depth", each.depth);
  get(json, "sessions", each.sessions);
  get(json, "round", each.round);
  get(json, "order", each.order);
  get(json, "target", each.target);
  get(json, "missing", each.missing);
  get(json, "first_ms", each.first_ms);
  get(json, "total_ms", each.total_ms);
  get(json, "decode_per_second", each.decode_per_second);
  get(json, "prompt_tokens", each.prompt_tokens);
  get(json, "reused_tokens", each.reused_tokens);
  get(json, "computed_tokens", each.computed_tokens);
  get(json, "reply_tokens", each.reply_tokens);
  get(json, "pieces", each.pieces);
  get(json, "source", each.source);
  get(json, "bytes", each.bytes);
  const auto server = json.find("server");
  if (server != json.end() && server->is_object()) {
    for (const auto& [name, value] : server->items()) {
      if (value.is_number()) each.server[name] = value.get<double>();
    }
  }
  return each;
}

Json json_of(const Summary& summary) {
  return {{"median", summary.median}, {"low", summary.low()}, {"high", summary.high()},
          {"min", summary.min},       {"max", summary.max},   {"count", summary.count}};
}

const char* name_of(Unit unit) {
  if (unit == Unit::bytes) return "bytes";
  return unit == Unit::tokens_per_second ? "tokens_per_second" : "ms";
}

const char* name_of(Verdict verdict) {
  if (verdict == Verdict::better) return "better";
  return verdict == Verdict::even ? "even" : "loses";
}

Json summary_json(const Report& report) {
  Json list = Json::array();
  for (const Section& section : summarise(report)) {
    for (const Row& row : section.rows) {
      Json json = {{"step", to_string(section.step)},
                   {"depth", row.depth},
                   {"sessions", row.sessions},
                   {"unit", name_of(section.unit)}};
      Json targets = Json::object();
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const Cell& cell = row.cells[i];
        Json one = cell.value ? json_of(*cell.value) : Json::object();
        put(one, "missing", cell.missing);
        if (cell.stands_for_both) one["from"] = to_string(Step::restart_warm);
        put(one, "prompt_tokens", cell.prompt_tokens);
        put(one, "computed_tokens", cell.computed_tokens);
        put(one, "prefill_per_second", cell.prefill_per_second);
        put(one, "server_per_second", cell.server_per_second);
        put(one, "bytes_per_token", cell.bytes_per_token);
        targets[report.targets[i].name] = std::move(one);
      }
      json["targets"] = std::move(targets);
      if (row.ratio) json["ratio"] = json_of(*row.ratio);
      if (row.verdict != Verdict::none) json["verdict"] = name_of(row.verdict);
      list.push_back(std::move(json));
    }
  }
  return list;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json = {{"format", kFormat}};
  Json conditions = Json::object();
  for (const auto& [name, value] : report.conditions) conditions[name] = value;
  json["conditions"] = std::move(conditions);
  json["targets"] = Json::array();
  for (const ReportTarget& target : report.targets) json["targets"].push_back(json_of(target));
  json["stopped"] = report.stopped;
  json["summary"] = summary_json(report);
  json["measurements"] = Json::array();
  for (const Measurement& each : report.measurements) {
    json["measurements"].push_back(json_of(each));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Report> report_of_json(std::string_view text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorKind::invalid_argument, file + " " + what, "",
                "give files that `samovar bench ... --json FILE` wrote");
  };
  if (!json.is_object() || !json.contains("measurements") || !json["measurements"].is_array() ||
      !json.contains("targets") || !json["targets"].is_array()) {
    return refuse("is no report");
  }
  if (!json.contains("format") || json["format"] != kFormat) {
    return refuse(fmt::format("is of another format than {}", kFormat));
  }
  Report report;
  if (json.contains("conditions") && json["conditions"].is_object()) {
    for (const auto& [name, value] : json["conditions"].items()) {
      if (value.is_string()) report.conditions.emplace_back(name, value.get<std::string>());
    }
  }
  for (const Json& target : json["targets"]) {
    if (target.is_object()) report.targets.push_back(target_of(target));
  }
  report.stopped = json.contains("stopped") && json["stopped"] == true;
  for (const Json& each : json["measurements"]) {
    auto measured = each.is_object() ? measurement_in(each) : std::nullopt;
    if (!measured) return refuse("has a measurement of an unknown step");
    report.measurements.push_back(std::move(*measured));
  }
  return report;
}

}  // namespace samovar::bench
