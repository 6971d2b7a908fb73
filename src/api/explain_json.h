// An Explanation as JSON, the same for the HTTP endpoint and `samovar explain --json`
// (docs/explain.md). Pure, any thread, nothing fails; broken UTF-8 is replaced when it is dumped.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "explain/explanation.h"

namespace samovar {

enum class ExplainTexts { shown, hidden };  // hidden: old and new are null

[[nodiscard]] nlohmann::ordered_json explanation_json(const Explanation& explanation,
                                                      ExplainTexts texts);

}  // namespace samovar
