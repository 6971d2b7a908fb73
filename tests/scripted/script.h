// Script: what a scripted model says. A list of rules; the first that fits a prompt in ChatML (the
// form of Qwen's templates) gives the raw text of the reply, in the template's own syntax,
// reasoning and tool calls included. A pure function of the prompt: the same prompt always gets the
// same reply.
//
// As JSON: {"rules": [RULE, ...]}. Each of these narrows a rule, and all must hold:
//   "system": "..."   the system message contains it
//   "user": "..."     the last message that a person wrote contains it
//   "last": "..."     the last message, be it of a person or of a tool, contains it
//   "tool": true      the last message is the result of a tool (false: it is not)
//   "step": 0         replies since the last message of a person
//   "replies": 0      replies in the whole conversation
// and this is the reply, without the "<think>\n" that the template has opened already:
//   "reply": "I see.\n</think>\n\nHello", or
//   "reply_after": "say: "   what follows these words in the last message, as the reply
//
// Where the template has closed the reasoning, the reply begins behind "</think>\n\n"; where a
// prompt ends inside a reply that is this one so far, the rest is said. Immutable; any thread.
// Errors: invalid_argument for a file that is not as above; not_found for a prompt without a rule.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samovar::testing {

class Script {
 public:
  static Result<Script> parse(std::string_view json);
  static Result<Script> read(const std::string& path);

  // What the model says after `prompt`, whose control tokens are shown.
  [[nodiscard]] Result<std::string> reply_to(std::string_view prompt) const;

 private:
  struct Rule {
    std::optional<std::string> system;
    std::optional<std::string> user;
    std::optional<std::string> last;
    std::optional<bool> tool;
    std::optional<int> step;
    std::optional<int> replies;
    std::optional<std::string> reply;
    std::optional<std::string> reply_after;
  };
  struct Dialogue;

  static bool fits(const Rule& rule, const Dialogue& dialogue);

  std::vector<Rule> rules_;
};

}  // namespace samovar::testing
