// A text as JSON, where empty means that there is none. Pure; any thread; nothing fails.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace samovar {

[[nodiscard]] nlohmann::ordered_json text_or_null(const std::string& text);

}  // namespace samovar
