// fetch_model(): from what a user asked for to the file that the loader is given. Asks the hub,
// downloads what is missing, links it into a snapshot of the shared cache; offline, or when the hub
// cannot be reached, takes what the cache holds. Blocks; one thread, one at a time, while other
// processes may do the same. Errors are for the user, as hub_errors.h.
#pragma once

#include <string>

#include "base/result.h"
#include "hub/hub_tools.h"
#include "hub/repo_ref.h"

namespace samovar::hub {

struct ModelWish {
  RepoRef ref;
  std::string file;  // in the repository; empty: chosen by quantisation
};

// The path of the model's first file.
[[nodiscard]] Result<std::string> fetch_model(const ModelWish& wish, const HubSettings& settings,
                                              const HubTools& tools);

}  // namespace samovar::hub
