// A trace: requests as they were made, with their times and replies, in a form that can be made
// again. Values; docs/trace-format.md describes the file.
//
// A turn says only what is new since the turn that it follows: of that turn's messages `keep`
// remain, then comes its reply if it is returned, then `messages`. So a trace grows with what was
// said, not with how often it was sent, and a replay can put in the reply that it really got.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/chat.h"

namespace samovar::replay {

inline constexpr int kTraceVersion = 1;

struct TraceHeader {
  int version = kTraceVersion;
  std::string made_by;
  std::string model;
  std::int64_t created = 0;  // seconds since 1970; 0: unknown
  bool redacted = false;
};

// What passed before the request was made, since the turn that it waited for had ended.
enum class WaitKind {
  start,  // nothing: the first request of a session
  think,  // a person read and wrote
  tool,   // tools ran
  agent,  // a sub-agent was started
};
[[nodiscard]] const char* to_string(WaitKind kind);

// How the reply of the turn before comes back.
enum class Returned { no, whole, without_reasoning };
[[nodiscard]] const char* to_string(Returned returned);

// What a request asks for besides its messages. Absent: the server's default.
struct TraceSettings {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> presence_penalty;
  std::optional<double> frequency_penalty;
  std::optional<double> repeat_penalty;
  std::optional<std::int64_t> top_k;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> max_tokens;
  std::vector<std::string> stop;
  ToolChoice tool_choice = ToolChoice::automatic;
  std::string tool_choice_name;
  bool parallel_tool_calls = true;
  ResponseFormat response_format;
  std::map<std::string, std::string> template_arguments;  // name -> JSON text
  std::optional<bool> enable_thinking;
};

struct TraceReply {
  ChatMessage message{.role = Role::assistant};
  std::string finish;                  // "stop", "length", "tool_calls"; empty: unknown
  bool cut = false;                    // somebody stopped it, or it broke off
  std::optional<std::int64_t> tokens;  // sampled
};

// As the server told them. Absent: it did not.
struct TraceFigures {
  std::optional<std::int64_t> prompt;  // tokens
  std::optional<std::int64_t> reused;
  std::optional<std::int64_t> computed;
  std::optional<double> queue_ms;
  std::optional<double> render_ms;
  std::optional<double> restore_ms;
  std::optional<double> prefill_ms;
  std::optional<double> first_token_ms;
  std::optional<double> decode_ms;
  std::string miss;  // class; empty: none that was told
};

struct TraceTurn {
  std::string id;       // unlike every other of the trace
  std::string session;  // for people and for the server's hint; turns are found by `after`
  std::string after;    // id of the turn it follows; empty: a conversation begins
  std::string parent;   // of a sub-agent's first turn: the turn whose reply started it
  std::vector<std::string> joins;  // turns of sub-agents whose end it waited for
  std::string agent;               // what kind of agent asks; may be empty
  std::string dialect;             // as it was asked, "chat.completions"
  std::int64_t at_ms = 0;          // arrival, since the trace began
  std::int64_t wait_ms = 0;        // since the end of `after`, `parent` and `joins`
  WaitKind wait = WaitKind::start;
  bool streamed = true;

  std::size_t keep = 0;  // messages of `after` that remain
  Returned returned = Returned::no;
  std::vector<ChatMessage> messages;       // new ones
  std::optional<std::vector<Tool>> tools;  // nullopt: those of `after`
  std::optional<TraceSettings> settings;   // nullopt: those of `after`
  std::optional<TraceReply> reply;         // nullopt: not known
  TraceFigures figures;
};

struct Trace {
  TraceHeader header;              // the first
  std::vector<TraceTurn> turns;    // each behind those that it names
  std::vector<std::string> notes;  // what was passed over on reading, for people
};

}  // namespace samovar::replay
