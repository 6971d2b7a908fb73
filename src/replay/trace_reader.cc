#include "replay/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "replay/plain_text.h"
#include "replay/trace_fields.h"
#include "replay/trace_lines.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMillisecondsInASecond = 1000;
constexpr std::int64_t kTimeMax = std::int64_t{1} << 52;  // of at_ms; sums stay whole

class Reader {
 public:
  Result<Trace> read(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
      ++line_;
      if (auto read = take(bytes.substr(at, end - at)); !read) {
        return std::unexpected(in_line(line_, read.error()));
      }
      at = end + 1;
    }
    if (torn_) note_torn("the last line");
    if (trace_.header.version == 0) {
      return fail(ErrorKind::invalid_argument, "this is no trace: it has no header line", "",
                  "the first line of a trace is {\"samovar_trace\":1, ...}; logs of requests are "
                  "taken in by `samovar trace import`");
    }
    return std::move(trace_);
  }

  Reader() { trace_.header.version = 0; }

 private:
  struct Known {
    std::size_t messages = 0;  // of the whole request
  };
  // Lines in a row that cannot be read, and what is wrong with the first.
  struct Torn {
    std::size_t first = 0;
    std::size_t last = 0;
    Error error;
  };

  static Error in_line(std::size_t line, Error error) {
    error.message = fmt::format("line {}: {}", line, error.message);
    return error;
  }

  void note_torn(const std::string& which) {
    const auto& [first, last, error] = *torn_;
    trace_.notes.push_back(
        first == last ? fmt::format("{} ({}) was cut off and is left out", which, first)
                      : fmt::format("lines {} to {} were cut off and are left out", first, last));
    torn_.reset();
  }

  Status take(std::string_view text) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    const auto json = parse_object(text);
    if (!json) {
      // A disk that fails tears several in a row: the header behind one may be torn as well.
      if (!torn_) torn_ = Torn{.first = line_, .error = json.error()};
      torn_->last = line_;
      return {};
    }
    if (torn_ && !is_header(*json)) {
      line_ = torn_->first;
      return std::unexpected(torn_->error);
    }
    if (torn_) note_torn("a line");
    if (is_header(*json)) return take_header(*json);
    if (trace_.header.version == 0) {
      return fail(ErrorKind::invalid_argument, "the header must come first", "samovar_trace",
                  "logs of requests are taken in by `samovar trace import`");
    }
    return take_turn(*json);
  }

  // A further header: the recorder began anew. Times count from it.
  Status take_header(const Json& json) {
    auto header = read_header(json);
    if (!header) return std::unexpected(header.error());
    if (trace_.header.version == 0) {
      trace_.header = std::move(*header);
      return {};
    }
    if (header->redacted != trace_.header.redacted) trace_.header.redacted = false;
    const std::int64_t seconds = header->created - trace_.header.created;
    const std::int64_t base =
        std::clamp<std::int64_t>(seconds, 0, kTimeMax / kMillisecondsInASecond) *
        kMillisecondsInASecond;
    base_ms_ = std::max({base, base_ms_, newest_ms_});
    return {};
  }

  Status take_turn(const Json& json) {
    auto turn = read_turn(json);
    if (!turn) return std::unexpected(turn.error());
    if (known_.contains(turn->id)) return refuse("this id is another turn's", "id");
    if (auto checked = check_references(*turn); !checked) return checked;
    if (turn->at_ms > kTimeMax || turn->wait_ms > kTimeMax) {
      return refuse("this is too late", turn->at_ms > kTimeMax ? "at_ms" : "wait_ms");
    }
    turn->at_ms = std::min(turn->at_ms + base_ms_, kTimeMax);
    newest_ms_ = std::max(newest_ms_, turn->at_ms);
    const std::size_t returned = turn->returned == Returned::no ? 0 : 1;
    const std::size_t messages = turn->keep + returned + turn->messages.size();
    if (messages == 0) return refuse("a request has at least one message", "messages");
    known_[turn->id] = {messages};
    trace_.turns.push_back(std::move(*turn));
    return {};
  }

  Status check_references(TraceTurn& turn) const {
    for (const auto& [id, field] : {std::pair(&turn.after, "after"), {&turn.parent, "parent"}}) {
      if (!id->empty() && !known_.contains(*id)) return unknown(*id, field);
    }
    for (const std::string& id : turn.joins) {
      if (!known_.contains(id)) return unknown(id, "joins");
    }
    if (turn.after.empty()) return {};
    const Known& before = known_.at(turn.after);
    if (turn.keep == kKeepAll) turn.keep = before.messages;
    if (turn.keep > before.messages) {
      return refuse(fmt::format("turn {} has {} messages", plain_text(turn.after.substr(0, 80)),
                                before.messages),
                    "keep");
    }
    if (turn.returned == Returned::no) return {};
    if (turn.keep < before.messages) {
      return refuse("a reply can only come back behind all messages that it followed",
                    "reply_returned");
    }
    return {};
  }

  static Status unknown(const std::string& id, const char* field) {
    return refuse(fmt::format("no turn {} stands before this one", plain_text(id.substr(0, 80))),
                  field);
  }

  static Status refuse(std::string message, std::string field) {
    return fail(ErrorKind::invalid_argument, std::move(message), std::move(field));
  }

  Trace trace_;
  std::map<std::string, Known, std::less<>> known_;
  std::optional<Torn> torn_;
  std::size_t line_ = 0;
  std::int64_t base_ms_ = 0;
  std::int64_t newest_ms_ = 0;
};

}  // namespace

Result<Trace> read_trace(std::string_view bytes) { return Reader().read(bytes); }

std::string write_trace(const Trace& trace) {
  std::string text = header_line(trace.header) + '\n';
  for (const TraceTurn& turn : trace.turns) text += turn_line(turn) + '\n';
  return text;
}

}  // namespace samovar::replay
