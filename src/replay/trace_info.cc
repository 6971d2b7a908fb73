#include "replay/trace_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bench/statistics.h"
#include "replay/plain_text.h"
#include "replay/pseudo_text.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

std::size_t tokens_of(const ChatMessage& message) {
  std::size_t tokens = estimate_tokens(message.content) + estimate_tokens(message.reasoning);
  for (const ToolCall& call : message.tool_calls) {
    tokens += estimate_tokens(call.name) + estimate_tokens(call.arguments);
  }
  return tokens;
}

Spread spread(std::vector<double> values) {
  const auto summary = bench::summarise(std::move(values));
  if (!summary) return {};
  return {summary->count, summary->median, summary->p90, summary->p99};
}

Json spread_json(const Spread& spread) {
  return {{"count", spread.count}, {"p50", spread.p50}, {"p90", spread.p90}, {"p99", spread.p99}};
}

std::string spread_text(const char* name, const Spread& spread, const char* unit) {
  if (spread.count == 0) return {};
  return fmt::format("{:<22} p50 {:>9.1f}   p90 {:>9.1f}   p99 {:>9.1f}   {} ({})\n", name,
                     spread.p50, spread.p90, spread.p99, unit, spread.count);
}

}  // namespace

TraceInfo trace_info(const Trace& trace) {
  TraceInfo info;
  std::vector<double> appended;
  std::vector<double> replies;
  std::vector<double> prompts;
  std::map<WaitKind, std::vector<double>> waits;
  std::map<std::string, std::size_t> sizes;  // messages of each turn
  double users = 0;
  double all = 0;
  for (const TraceTurn& turn : trace.turns) {
    ++info.turns;
    const std::size_t returned = turn.returned == Returned::no ? 0 : 1;
    sizes[turn.id] = turn.keep + returned + turn.messages.size();
    info.length_ms = std::max(info.length_ms, turn.at_ms);
    if (turn.after.empty()) {
      ++(turn.parent.empty() ? info.sessions : info.sub_agents);
    } else {
      const bool rewrites = turn.keep < sizes[turn.after];
      info.rewrites += rewrites ? 1 : 0;
      waits[turn.wait].push_back(static_cast<double>(turn.wait_ms) / 1000.0);
      double tokens = 0;
      for (const ChatMessage& message : turn.messages) {
        const auto each = static_cast<double>(tokens_of(message));
        tokens += each;
        if (message.role == Role::user && !rewrites) users += each;
      }
      if (!rewrites) appended.push_back(tokens);
      if (!rewrites) all += tokens;
    }
    if (turn.figures.prompt) prompts.push_back(static_cast<double>(*turn.figures.prompt));
    if (!turn.figures.miss.empty()) ++info.misses[turn.figures.miss];
    if (!turn.reply) continue;
    ++info.recorded_replies;
    info.cuts += turn.reply->cut ? 1 : 0;
    if (!turn.reply->tokens) info.estimated = true;
    replies.push_back(static_cast<double>(
        turn.reply->tokens.value_or(static_cast<std::int64_t>(tokens_of(turn.reply->message)))));
  }
  info.appended = spread(std::move(appended));
  info.replies = spread(std::move(replies));
  info.prompts = spread(std::move(prompts));
  for (auto& [kind, seconds] : waits) info.waits[kind] = spread(std::move(seconds));
  info.users_part = all > 0 ? users / all : 0;
  return info;
}

std::string info_text(const Trace& trace, const TraceInfo& info) {
  const TraceHeader& header = trace.header;
  std::string out = fmt::format("made by     {}\n", header.made_by.empty() ? "-" : header.made_by);
  if (!header.model.empty()) out += fmt::format("model       {}\n", header.model);
  out += fmt::format("text        {}\n", header.redacted ? "redacted" : "as it was");
  out += fmt::format("sessions    {}, and {} sub-agents\n", info.sessions, info.sub_agents);
  out += fmt::format("turns       {} in {} s; {} rewrite their history, {} replies were cut\n",
                     info.turns, info.length_ms / 1000, info.rewrites, info.cuts);
  out += fmt::format("of users    {:.1f} % of the appended tokens\n\n", info.users_part * 100);
  out += spread_text("appended, estimated", info.appended, "tokens");
  out += spread_text(info.estimated ? "replies, estimated" : "replies", info.replies, "tokens");
  out += spread_text("prompts", info.prompts, "tokens");
  for (const auto& [kind, seconds] : info.waits) {
    out += spread_text(fmt::format("pauses, {}", to_string(kind)).c_str(), seconds, "s");
  }
  for (const auto& [miss, count] : info.misses) out += fmt::format("miss {}: {}\n", miss, count);
  for (const std::string& note : trace.notes) out += fmt::format("note: {}\n", note);
  return plain_text(out);
}

std::string info_json(const Trace& trace, const TraceInfo& info) {
  Json json;
  json["version"] = trace.header.version;
  json["made_by"] = trace.header.made_by;
  json["model"] = trace.header.model;
  json["redacted"] = trace.header.redacted;
  json["sessions"] = info.sessions;
  json["sub_agents"] = info.sub_agents;
  json["turns"] = info.turns;
  json["rewrites"] = info.rewrites;
  json["cut_replies"] = info.cuts;
  json["length_ms"] = info.length_ms;
  json["users_part"] = info.users_part;
  json["appended_tokens_estimated"] = spread_json(info.appended);
  json["reply_tokens"] = spread_json(info.replies);
  json["reply_tokens_estimated"] = info.estimated;
  json["prompt_tokens"] = spread_json(info.prompts);
  Json& waits = json["wait_seconds"] = Json::object();
  for (const auto& [kind, seconds] : info.waits) waits[to_string(kind)] = spread_json(seconds);
  json["misses"] = info.misses;
  json["notes"] = trace.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace samovar::replay
