// The hub's answers, from JSON to values. The only JSON of this layer. Pure functions; any thread.
// Everything that will name a file is checked; an entry that could leave the cache's folder is left
// out. Errors say which answer is not as it should be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/file_choice.h"

namespace samovar::hub {

// The commit of GET /api/models/REPO/revision/main.
[[nodiscard]] Result<std::string> commit_in(std::string_view body);

// The files of one page of GET /api/models/REPO/tree/COMMIT?recursive=true.
[[nodiscard]] Result<std::vector<RepoFile>> files_in(std::string_view body);

}  // namespace samovar::hub
