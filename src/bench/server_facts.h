// What a server's JSON says of it: Samovar's and llama-server's /v1/models, and /props where there
// is one. Pure; any thread. What cannot be read stays empty. Folders are cut off names: a report
// shows none.
#pragma once

#include <string_view>

#include "bench/target.h"

namespace samovar::bench {

[[nodiscard]] TargetFacts read_facts(std::string_view models, std::string_view props);

// "b.gguf" of "/a/b.gguf".
[[nodiscard]] std::string base_name(std::string_view path);

}  // namespace samovar::bench
