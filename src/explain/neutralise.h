// Volatile rules: known lines that a client puts into every prompt, that change from request to
// request and that mean nothing to a model. Each rule has a name, replaces such a line by one fixed
// form of it, and touches nothing else: no other message, no other place, no line that is not
// exactly of the known form. What it did is reported, so that nobody wonders. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/chat.h"

namespace samovar {

struct VolatileRule {
  std::string_view name;
  std::string_view help;   // what it does, in a clause
  bool by_default = true;  // safe for everybody
};

// All rules there are.
[[nodiscard]] std::span<const VolatileRule> volatile_rules();

// Which of them are on.
class RuleSet {
 public:
  RuleSet() = default;  // none
  [[nodiscard]] static RuleSet defaults();
  [[nodiscard]] static RuleSet all();

  // "default", "all", "none", or names with commas between them. Errors: invalid_argument that
  // lists the known names.
  [[nodiscard]] static Result<RuleSet> parse(std::string_view list);

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::string list() const;  // "a,b", or "none"
  bool operator==(const RuleSet&) const = default;

 private:
  std::uint32_t bits_ = 0;  // by position in volatile_rules()
};

struct AppliedRule {
  std::string name;
  std::size_t message = 0;  // where it was applied first
  std::string field;        // "content"
  int times = 0;            // values replaced, in all messages
  bool operator==(const AppliedRule&) const = default;
};

// Applies the rules to `request`; one entry for each rule that changed anything.
std::vector<AppliedRule> neutralise(ChatRequest& request, const RuleSet& rules);

// "claude-code-billing=2", with commas between rules: for a header or a log line. Empty if nothing
// was applied.
[[nodiscard]] std::string describe(std::span<const AppliedRule> applied);

}  // namespace samovar
