// Splicing: the text of a conversation from the text of an earlier one that begins alike. The text
// before some message, the cut, is taken from the earlier rendering; what stands there and after is
// rendered behind a small stand-in conversation:
//
//   earlier   [system][user][reply][user] ...         | cut: [user][calls][result]...
//   wanted    [system][user][reply][user] ...         | cut: [user][calls][result]...[reply][user]
//   rendered  [system][stand-in user][stand-in reply] | cut: [user][calls][result]...[reply][user]
//
// The cut is found in the earlier text by rendering its end behind the same stand-in, which the
// text must end with byte for byte. What that cannot show is whether the text before the cut
// depends on messages after it. So cuts are only made where the templates known to look ahead (for
// the last user message, the last reply, system messages) see the same in both conversations, and
// only for templates for which find_splice_rules() found no difference.
// Pure functions; any thread. They throw what the template throws.
#pragma once

#include <llama-common/chat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/direct_template.h"

namespace samovar {

using ChatMessages = std::span<const common_chat_msg>;

// How far a template may be trusted with one kind of cut.
struct CutRule {
  bool own_tools = false;      // behind the stand-in stand the request's tools, not a stand-in's
  bool reply_follows = false;  // only where a reply comes after the cut in both conversations
};

struct SpliceRules {
  std::optional<CutRule> at_question;  // a user message that answers a finished reply
  std::optional<CutRule> in_loop;      // calls after a tool result, no user message behind them

  [[nodiscard]] bool any() const { return at_question || in_loop; }
};

struct Cut {
  std::size_t message = 0;  // index of the first message that is rendered again
  bool in_loop = false;
  CutRule rule;
};

// The last place at which the two may be cut, `shared` messages of which are equal.
std::optional<Cut> find_cut(ChatMessages earlier, ChatMessages wanted, std::size_t shared,
                            const SpliceRules& rules);

// A conversation with its text.
struct RenderedConversation {
  std::vector<common_chat_msg> messages;
  std::string text;

  // Where the content of the message before `message` ends, for cuts made before, ascending.
  struct Boundary {
    std::size_t message;
    std::size_t offset;
  };
  std::vector<Boundary> boundaries;
};

// `wanted` but for its text: tools, template arguments and the like. nullopt if the cut cannot be
// found in `earlier`. Fills the result's text and boundaries, not its messages.
std::optional<RenderedConversation> splice(const DirectTemplate& direct,
                                           const RenderedConversation& earlier,
                                           const common_chat_templates_inputs& wanted, Cut cut);

// How many messages are rendered for it, stand-ins included.
std::size_t splice_cost(const RenderedConversation& earlier, ChatMessages wanted, Cut cut);

// Renders pseudo-random conversations (always the same ones) that grow, are edited and regenerated,
// both ways: what can be done without any difference.
SpliceRules find_splice_rules(const DirectTemplate& direct);

}  // namespace samovar
