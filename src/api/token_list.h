// A list of token ids in a request. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "api/json_fields.h"
#include "core/tokens.h"

namespace samovar {

// Reports what is no id of a vocabulary of `vocab_size` tokens (0: unchecked) by its place, and an
// empty list. `path` names the list.
[[nodiscard]] Tokens read_token_list(const nlohmann::ordered_json& list, const std::string& path,
                                     int vocab_size, Problem& problem);

}  // namespace samovar
