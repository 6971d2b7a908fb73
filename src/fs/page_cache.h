// drop_from_page_cache(): the file's pages, so that the next reader gets them from the disk; for
// measuring. What is not on the disk yet is written first. Any thread. A hint to the system: where
// it does not know it (no Linux), the error says so.
#pragma once

#include <string>

#include "fs/fs.h"

namespace samovar {

FsStatus drop_from_page_cache(const std::string& path);

}  // namespace samovar
