// `samovar cache COMMAND`: the store's folder in the hands of its owner. parse_cache() makes a
// CacheRequest of the words, run_cache() does what it says and answers in text, cache() is both
// with the machine's file system and clock. Called once, on the main thread. Errors go to stderr as
// one message.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/progress_text.h"
#include "base/result.h"
#include "fs/fs.h"

namespace samovar::app {

struct CacheRequest {
  std::string command;  // "ls", "stats", ...
  std::string folder;
  std::string help;  // not empty: print this and do nothing
  bool json = false;
  bool entries = false;               // ls
  bool quick = false;                 // verify
  bool repair = false;                // verify
  bool dry_run = false;               // gc, rm, purge
  bool all = false;                   // purge
  std::string id;                     // pin, unpin, rm, export
  std::string file;                   // export, import
  std::string session;                // purge
  std::string model;                  // ls, purge
  std::optional<std::uint64_t> size;  // gc
};

// `arguments` are the words after "cache".
[[nodiscard]] Result<CacheRequest> parse_cache(const std::vector<std::string>& arguments);

struct CacheAnswer {
  int code = 0;
  std::string text;   // for stdout
  std::string error;  // for stderr
};

struct CacheTools {
  Fs& fs;
  const Clock& clock;
  bool catalog = true;
  std::function<void(const Progress& progress)> progress = {};  // of what takes long; may be empty
};

[[nodiscard]] CacheAnswer run_cache(const CacheRequest& request, const CacheTools& tools);

[[nodiscard]] int cache(const std::vector<std::string>& arguments);

}  // namespace samovar::app
