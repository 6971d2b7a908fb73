// A model that is given as a path: any part of a split one stands for all of it, if all are there.
// Looks at names and at whether files exist, not into them. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "fs/fs.h"

namespace samovar::hub {

// The path that the loader wants: the file, or the first part. Errors name --model and what is
// missing; of a folder, what it holds.
[[nodiscard]] Result<std::string> local_model(Fs& fs, const std::string& path);

}  // namespace samovar::hub
