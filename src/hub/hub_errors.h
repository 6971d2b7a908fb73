// What goes wrong with a hub and with the cache's disk, in words for the user, with the remedy.
// Kind `unavailable` means that the hub cannot be reached or cannot answer now, so that what is
// cached may stand in; `cancelled` that the user stopped it. Pure functions; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "fs/fs.h"
#include "hub/hub_tools.h"
#include "net/http_get.h"

namespace samovar::hub {

[[nodiscard]] Error error_of(const net::GetError& error);

// A status that is no success, for a repository or a file of it.
[[nodiscard]] Error refusal(const net::HttpHead& head, const std::string& repo,
                            const HubSettings& settings);

// Worth trying again: too many requests, a timeout of the server, 5xx.
[[nodiscard]] bool is_passing(int status);

[[nodiscard]] Error disk_error(const FsError& error);

[[nodiscard]] Error cancelled_error(const std::string& where);

}  // namespace samovar::hub
