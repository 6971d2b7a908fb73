// An Explanation as people read it on a terminal. Pure; any thread; nothing fails.
#pragma once

#include <span>
#include <string>

#include "explain/explanation.h"
#include "explain/neutralise.h"

namespace samovar::app {

struct ExplainPrinting {
  bool colour = false;
  bool guessed = false;                // no tokeniser was at hand
  std::span<const AppliedRule> rules;  // that were applied to the later request
};

[[nodiscard]] std::string print_explanation(const Explanation& explanation,
                                            const ExplainPrinting& how);

}  // namespace samovar::app
