#include "replay/trace_lines.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "replay/chat_json.h"
#include "replay/trace_fields.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "samovar_trace";
constexpr std::array kWaits = {WaitKind::start, WaitKind::think, WaitKind::tool, WaitKind::agent};
constexpr std::array kReturns = {Returned::no, Returned::whole, Returned::without_reasoning};

void put_text(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

template <class Value>
void put(Json& json, const char* name, const std::optional<Value>& value) {
  if (value) json[name] = *value;
}

Json settings_json(const TraceSettings& settings) {
  Json json = Json::object();
  put_settings(settings, json);
  return json;
}

Json reply_json(const TraceReply& reply) {
  Json json;
  json["message"] = message_json(reply.message);
  put_text(json, "finish", reply.finish);
  if (reply.cut) json["cut"] = true;
  put(json, "tokens", reply.tokens);
  return json;
}

Json figures_json(const TraceFigures& figures) {
  Json json = Json::object();
  put(json, "prompt", figures.prompt);
  put(json, "reused", figures.reused);
  put(json, "computed", figures.computed);
  put(json, "queue_ms", figures.queue_ms);
  put(json, "render_ms", figures.render_ms);
  put(json, "restore_ms", figures.restore_ms);
  put(json, "prefill_ms", figures.prefill_ms);
  put(json, "first_token_ms", figures.first_token_ms);
  put(json, "decode_ms", figures.decode_ms);
  put_text(json, "miss", figures.miss);
  return json;
}

// One of the words of an enumeration; the first if the field is absent.
template <class Value, std::size_t Count>
Value read_word(const Fields& fields, const char* name, const std::array<Value, Count>& values) {
  const std::string word = fields.text(name);
  if (word.empty()) return values.front();
  std::string known;
  for (const Value value : values) {
    if (word == to_string(value)) return value;
    known += (known.empty() ? "" : ", ") + std::string(to_string(value));
  }
  fields.trouble().report(fmt::format("one of {} is expected here", known), fields.path(name));
  return values.front();
}

TraceReply read_reply(const Fields& fields) {
  TraceReply reply;
  if (const Json* message = fields.object("message")) {
    reply.message =
        replay::read_message(Fields(*message, fields.path("message"), fields.trouble()));
    if (reply.message.role != Role::assistant) {
      fields.trouble().report("a reply is the assistant's", fields.path("message.role"));
    }
  } else {
    fields.trouble().report("this field is missing", fields.path("message"));
  }
  reply.finish = fields.text("finish");
  reply.cut = fields.flag("cut").value_or(false);
  reply.tokens = fields.count("tokens");
  return reply;
}

TraceFigures read_figures(const Fields& fields) {
  return {.prompt = fields.count("prompt"),
          .reused = fields.count("reused"),
          .computed = fields.count("computed"),
          .queue_ms = fields.number("queue_ms"),
          .render_ms = fields.number("render_ms"),
          .restore_ms = fields.number("restore_ms"),
          .prefill_ms = fields.number("prefill_ms"),
          .first_token_ms = fields.number("first_token_ms"),
          .decode_ms = fields.number("decode_ms"),
          .miss = fields.text("miss")};
}

std::vector<std::string> read_joins(const Fields& fields) {
  std::vector<std::string> joins;
  const Json* array = fields.array("joins");
  if (array == nullptr) return joins;
  for (const Json& each : *array) {
    if (!each.is_string()) {
      fields.trouble().report("ids of turns are expected here", fields.path("joins"));
      break;
    }
    joins.push_back(each.get<std::string>());
  }
  return joins;
}

// What of the turn before remains.
void read_kept(const Fields& fields, TraceTurn& turn) {
  const auto keep = fields.count("keep");
  if (turn.after.empty()) {
    if (keep.value_or(0) > 0) {
      fields.trouble().report("messages of what turn? \"after\" is missing", fields.path("keep"));
    }
    return;
  }
  turn.keep = keep ? static_cast<std::size_t>(*keep) : kKeepAll;
  if (fields.find("reply_returned") != nullptr) {
    turn.returned = read_word(fields, "reply_returned", kReturns);
  } else {
    turn.returned = keep ? Returned::no : Returned::whole;
  }
}

}  // namespace

const char* to_string(WaitKind kind) {
  switch (kind) {
    case WaitKind::start:
      return "start";
    case WaitKind::think:
      return "think";
    case WaitKind::tool:
      return "tool";
    case WaitKind::agent:
      return "agent";
  }
  return "start";
}

const char* to_string(Returned returned) {
  switch (returned) {
    case Returned::no:
      return "no";
    case Returned::whole:
      return "whole";
    case Returned::without_reasoning:
      return "without_reasoning";
  }
  return "no";
}

std::string header_line(const TraceHeader& header) {
  Json json;
  json[kMark] = header.version;
  put_text(json, "made_by", header.made_by);
  put_text(json, "model", header.model);
  if (header.created != 0) json["created"] = header.created;
  if (header.redacted) json["redacted"] = true;
  return json_line(json);
}

std::string turn_line(const TraceTurn& turn) {
  Json json;
  json["id"] = turn.id;
  put_text(json, "session", turn.session);
  put_text(json, "after", turn.after);
  put_text(json, "parent", turn.parent);
  if (!turn.joins.empty()) json["joins"] = turn.joins;
  put_text(json, "agent", turn.agent);
  put_text(json, "dialect", turn.dialect);
  json["at_ms"] = turn.at_ms;
  if (turn.wait_ms != 0) json["wait_ms"] = turn.wait_ms;
  if (turn.wait != WaitKind::start) json["wait"] = to_string(turn.wait);
  if (!turn.streamed) json["streamed"] = false;
  if (!turn.after.empty()) {
    if (turn.keep != kKeepAll) json["keep"] = turn.keep;
    json["reply_returned"] = to_string(turn.returned);
  }
  Json& messages = json["messages"] = Json::array();
  for (const ChatMessage& message : turn.messages) messages.push_back(message_json(message));
  if (turn.tools) json["tools"] = tools_json(*turn.tools);
  if (turn.settings) json["settings"] = settings_json(*turn.settings);
  if (turn.reply) json["reply"] = reply_json(*turn.reply);
  Json figures = figures_json(turn.figures);
  if (!figures.empty()) json["figures"] = std::move(figures);
  return json_line(json);
}

bool is_header(const Json& line) { return line.is_object() && line.contains(kMark); }

Result<TraceHeader> read_header(const Json& line) {
  Trouble trouble;
  const Fields fields(line, "", trouble);
  TraceHeader header;
  const auto version = fields.count(kMark);
  if (!version || *version != kTraceVersion) {
    trouble.report(fmt::format("this version of the format is not known; {} is", kTraceVersion),
                   kMark);
  }
  header.made_by = fields.text("made_by");
  header.model = fields.text("model");
  header.created = fields.count("created").value_or(0);
  header.redacted = fields.flag("redacted").value_or(false);
  if (trouble.error()) return std::unexpected(*trouble.error());
  return header;
}

Result<TraceTurn> read_turn(const Json& line) {
  Trouble trouble;
  const Fields fields(line, "", trouble);
  TraceTurn turn;
  turn.id = fields.required_text("id");
  turn.session = fields.text("session");
  turn.after = fields.text("after");
  turn.parent = fields.text("parent");
  turn.joins = read_joins(fields);
  turn.agent = fields.text("agent");
  turn.dialect = fields.text("dialect");
  turn.at_ms = fields.count("at_ms").value_or(0);
  turn.wait_ms = fields.count("wait_ms").value_or(0);
  turn.wait = read_word(fields, "wait", kWaits);
  turn.streamed = fields.flag("streamed").value_or(true);
  read_kept(fields, turn);
  turn.messages = read_messages(fields, "messages");
  if (fields.array("tools") != nullptr) turn.tools = read_tools(fields);
  if (const Json* settings = fields.object("settings")) {
    turn.settings = read_settings(Fields(*settings, "settings", trouble));
  }
  if (const Json* reply = fields.object("reply")) {
    turn.reply = read_reply(Fields(*reply, "reply", trouble));
  }
  if (const Json* figures = fields.object("figures")) {
    turn.figures = read_figures(Fields(*figures, "figures", trouble));
  }
  if (trouble.error()) return std::unexpected(*trouble.error());
  return turn;
}

}  // namespace samovar::replay
