// What fetching a model needs from outside: HubSettings says where from and where to, HubTools are
// the file system, time and whoever listens. Values; the functions are called on the thread that
// fetches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/progress_text.h"
#include "fs/cache_fs.h"

namespace samovar::hub {

inline constexpr const char* kHub = "https://huggingface.co";

struct HubSettings {
  std::string endpoint = kHub;  // without "/" at its end
  std::string token;            // empty: none
  std::string cache;            // the folder of "models--..."
  bool offline = false;
  Micros stall = 30 * kSecond;  // a transfer under 1 KiB/s for so long has broken off
  int tries = 6;                // in a row without a new byte
};

// Bytes of one model, all its files together; the name of the file that comes now, without folder.
using FetchProgress = Progress;

struct HubTools {
  CacheFs& fs;
  // Waits so long; false: the user wants to stop. pause(0) only asks.
  std::function<bool(Micros)> pause;
  std::function<void(const std::string& line)> say;             // what the user should know
  std::function<void(const FetchProgress& progress)> progress;  // often
};

}  // namespace samovar::hub
