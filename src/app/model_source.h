// Where the model comes from: what flags and environment say about the hub, and fetching with its
// progress on stderr. hub_settings() is pure but for the environment it is given; fetch_shown()
// blocks until the model is there or the user stops it. Main thread. Errors name the flag or the
// variable.
#pragma once

#include <functional>
#include <string>

#include "app/progress_display.h"
#include "app/signals.h"
#include "base/result.h"
#include "hub/fetch_model.h"
#include "hub/hub_tools.h"

namespace samovar::app {

// The value of a variable; nullptr: not set.
using Environment = std::function<const char*(const char* name)>;
[[nodiscard]] Environment process_environment();

// HF_ENDPOINT (or MODEL_ENDPOINT), HF_TOKEN, HF_HUB_OFFLINE, and for the cache's folder
// HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, HOME, the first one that is set. `token` and `offline` are
// the flags'; they go first.
[[nodiscard]] Result<hub::HubSettings> hub_settings(const Environment& environment,
                                                    const std::string& token, bool offline);

// Kind `cancelled`: a signal came; signals.received() says which.
[[nodiscard]] Result<std::string> fetch_shown(const hub::ModelWish& wish,
                                              const hub::HubSettings& settings,
                                              StopSignals& signals, ProgressDisplay::Say say);

}  // namespace samovar::app
