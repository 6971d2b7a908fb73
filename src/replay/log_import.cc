#include "replay/log_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "replay/chat_json.h"
#include "replay/trace_fields.h"
#include "replay/turn_linker.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNotesMax = 20;
constexpr double kMillisecondsFrom = 1e11;  // as seconds, that is the year 5138

// "2026-01-31T12:34:56.789Z": milliseconds since 1970.
std::optional<std::int64_t> iso_ms(std::string_view text) {
  const auto number = [&](std::size_t at, std::size_t digits) -> std::optional<int> {
    if (text.size() < at + digits) return std::nullopt;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + digits, value);
    if (error != std::errc() || end != text.data() + at + digits) return std::nullopt;
    return value;
  };
  const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const auto hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  std::int64_t ms = (((days * 24 + *hour) * 60 + *minute) * 60 + *second) * 1000;
  std::int64_t unit = 100;
  for (std::size_t at = 20; at < text.size() && unit > 0; ++at, unit /= 10) {
    if (text[19] != '.' || text[at] < '0' || text[at] > '9') break;
    ms += (text[at] - '0') * unit;
  }
  return ms;
}

std::optional<std::int64_t> instant_ms(const Json& line) {
  for (const char* name : {"timestamp", "time", "created", "created_at", "start_time", "ts"}) {
    const auto found = line.find(name);
    if (found == line.end()) continue;
    if (found->is_string()) return iso_ms(found->get_ref<const std::string&>());
    if (!found->is_number()) continue;
    const double value = found->get<double>();
    if (!std::isfinite(value) || value < 0 || value > 1e15) continue;
    return static_cast<std::int64_t>(value > kMillisecondsFrom ? value : value * 1000);
  }
  return std::nullopt;
}

std::optional<std::int64_t> duration_ms(const Json& line) {
  for (const char* name : {"duration_ms", "latency_ms", "response_time_ms"}) {
    const auto found = line.find(name);
    if (found == line.end() || !found->is_number()) continue;
    const double value = found->get<double>();
    if (value >= 0 && value < 1e12) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

// An object, or text that is one.
std::optional<Json> inner(const Json& line, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = line.find(name);
    if (found == line.end()) continue;
    if (found->is_object()) return *found;
    if (!found->is_string()) continue;
    if (auto parsed = parse_object(found->get_ref<const std::string&>())) return std::move(*parsed);
  }
  return std::nullopt;
}

struct Entry {
  ChatRequest request;
  TraceSettings settings;
  std::string model;
  std::string session;
  bool streamed = false;
  std::optional<TraceReply> reply;
  TraceFigures figures;
  std::optional<std::int64_t> at_ms;  // since 1970
  std::optional<std::int64_t> took_ms;
};

void read_response(const Json& response, Entry& entry, Trouble& trouble) {
  const Fields fields(response, "response", trouble);
  const Json* choices = fields.array("choices");
  if (choices == nullptr || choices->empty()) return;
  const Fields choice(choices->front(), "response.choices[0]", trouble);
  const Json* message = choice.object("message");
  if (message == nullptr) return;
  int left_out = 0;
  TraceReply reply;
  reply.message = read_message(Fields(*message, choice.path("message"), trouble), &left_out);
  reply.message.role = Role::assistant;
  reply.finish = choice.text("finish_reason");
  if (const Json* usage = fields.object("usage")) {
    const Fields counts(*usage, "response.usage", trouble);
    reply.tokens = counts.count("completion_tokens");
    entry.figures.prompt = counts.count("prompt_tokens");
    if (const Json* details = counts.object("prompt_tokens_details")) {
      entry.figures.reused =
          Fields(*details, counts.path("prompt_tokens_details"), trouble).count("cached_tokens");
    }
  }
  entry.reply = std::move(reply);
}

class Importer {
 public:
  Result<Trace> read(std::string_view bytes) {
    std::size_t line = 0;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
      ++line;
      take(bytes.substr(at, end - at), line);
      at = end + 1;
    }
    if (entries_.empty()) {
      return fail(ErrorKind::invalid_argument,
                  trace_.notes.empty() ? "there is no request in this log" : trace_.notes.front(),
                  "",
                  "each line is the body of a chat completions request as JSON, or an object "
                  "with it in \"request\"");
    }
    if (left_out_parts_ > 0) {
      trace_.notes.push_back(
          fmt::format("{} parts that are no text are left out", left_out_parts_));
    }
    return link();
  }

 private:
  void note(std::size_t line, const Error& error) {
    if (++unreadable_ > kNotesMax) return;
    trace_.notes.push_back(fmt::format("line {} is left out: {}", line, error.describe()));
  }

  void take(std::string_view text, std::size_t number) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const auto line = parse_object(text);
    if (!line) return note(number, line.error());
    std::optional<Json> body;
    if (line->contains("messages")) {
      body = *line;
    } else {
      body = inner(*line, {"request", "body", "request_body"});
    }
    Trouble trouble;
    if (!body) {
      return note(number,
                  {ErrorKind::invalid_argument, "there is no request in it", "request", {}});
    }
    const Fields fields(*body, "", trouble);
    Entry entry;
    entry.request.messages = read_messages(fields, "messages", &left_out_parts_);
    if (entry.request.messages.empty()) trouble.report("there are no messages", "messages");
    entry.request.tools = read_tools(fields);
    entry.settings = read_settings(fields);
    entry.model = fields.text("model");
    entry.session = fields.text("prompt_cache_key");
    entry.streamed = fields.flag("stream").value_or(false);
    if (const auto response = inner(*line, {"response", "response_body"})) {
      read_response(*response, entry, trouble);
    }
    entry.at_ms = instant_ms(*line);
    entry.took_ms = duration_ms(*line);
    if (trouble.error()) return note(number, *trouble.error());
    entries_.push_back(std::move(entry));
  }

  Result<Trace> link() {
    const bool timed = std::ranges::all_of(entries_, [](const Entry& e) { return !!e.at_ms; });
    if (timed) {
      std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return *entry.at_ms; });
    } else {
      trace_.notes.emplace_back("not every line has a time: there are no pauses");
    }
    TurnLinker linker;
    const std::int64_t begin = timed ? *entries_.front().at_ms : 0;
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      const std::int64_t at = timed ? *entry.at_ms - begin : 0;
      TraceTurn turn = linker.link({.id = fmt::format("t{}", i + 1),
                                    .session = entry.session,
                                    .dialect = "chat.completions",
                                    .arrived_ms = at,
                                    .ended_ms = at + (timed ? entry.took_ms.value_or(0) : 0),
                                    .streamed = entry.streamed,
                                    .request = &entry.request,
                                    .settings = entry.settings,
                                    .reply = entry.reply,
                                    .figures = entry.figures});
      adopt_reply(turn, index);
      messages_[turn.id] = entry.request.messages.size();
      if (turn.session.empty()) {
        turn.session = turn.after.empty() ? turn.id : trace_.turns[index.at(turn.after)].session;
      }
      index[turn.id] = trace_.turns.size();
      trace_.turns.push_back(std::move(turn));
    }
    trace_.header.made_by = "samovar trace import";
    trace_.header.model = entries_.front().model;
    trace_.header.created = begin / 1000;
    return std::move(trace_);
  }

  // A log without responses: the reply is what the next request brings back.
  void adopt_reply(TraceTurn& turn, const std::map<std::string, std::size_t>& index) {
    if (turn.after.empty() || turn.returned != Returned::no || turn.messages.empty()) return;
    TraceTurn& before = trace_.turns[index.at(turn.after)];
    const bool all = turn.keep == messages_[turn.after];
    if (before.reply || !all || turn.messages.front().role != Role::assistant) return;
    before.reply = TraceReply{.message = turn.messages.front(), .finish = {}, .tokens = {}};
    turn.messages.erase(turn.messages.begin());
    turn.returned = Returned::whole;
  }

  Trace trace_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> messages_;  // of each turn's request
  std::size_t unreadable_ = 0;
  int left_out_parts_ = 0;
};

}  // namespace

Result<Trace> import_log(std::string_view bytes) { return Importer().read(bytes); }

}  // namespace samovar::replay
