// What a trace holds, in figures: how long its sessions are, what requests append, how long they
// wait. Pure; any thread. Tokens are those that the trace tells where it does; elsewhere they are
// estimated from the text, and `estimated` says so.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "replay/trace.h"

namespace samovar::replay {

struct Spread {
  std::size_t count = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

struct TraceInfo {
  std::size_t sessions = 0;    // conversations that begin by themselves
  std::size_t sub_agents = 0;  // those that a turn started
  std::size_t turns = 0;
  std::size_t rewrites = 0;  // requests that do not keep all that they follow
  std::size_t cuts = 0;      // replies
  std::size_t recorded_replies = 0;
  Spread appended;                   // tokens a request adds to the history it follows
  Spread replies;                    // tokens
  Spread prompts;                    // tokens; where the trace tells them
  bool estimated = false;            // appended, replies: from text
  double users_part = 0;             // of all appended tokens, those of messages of users
  std::map<WaitKind, Spread> waits;  // seconds
  std::map<std::string, std::size_t> misses;
  std::int64_t length_ms = 0;  // to the last arrival
};

[[nodiscard]] TraceInfo trace_info(const Trace& trace);

// For a terminal.
[[nodiscard]] std::string info_text(const Trace& trace, const TraceInfo& info);
[[nodiscard]] std::string info_json(const Trace& trace, const TraceInfo& info);

}  // namespace samovar::replay
