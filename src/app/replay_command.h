// `samovar replay FILE`: makes the requests of a trace again, against a running server or one in
// this process, and reports what they cost. parse_replay() makes a ReplayRequest of the words,
// replay_command() does what they say. Called once, on the main thread. Errors go to stderr; the
// exit code tells whether every turn was answered and every limit kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/replay_report.h"
#include "replay/replayer.h"

namespace samovar::app {

struct ReplayRequest {
  std::string help;  // not empty: print this and do nothing
  std::string file;
  std::string against;             // URL of a running server; empty: in this process
  std::vector<std::string> serve;  // options of the one in this process
  std::string key;
  replay::ReplayOptions options;
  int runs = 1;
  bool every_turn = false;
  std::string json;  // file; "-": stdout instead of the table; empty: none
  std::string csv;
  replay::ReplayLimits limits;
};

// `arguments` are the words after "replay"; `key`: SAMOVAR_API_KEY, or empty.
[[nodiscard]] Result<ReplayRequest> parse_replay(const std::vector<std::string>& arguments,
                                                 const std::string& key);

[[nodiscard]] int replay_command(const std::vector<std::string>& arguments);

}  // namespace samovar::app
