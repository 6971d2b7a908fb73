#include "chat/syntax_memo.h"

#include <algorithm>

namespace samovar {
namespace {

constexpr std::size_t kEntriesMax = 16;  // agents with different tools at the same time

}  // namespace

std::shared_ptr<const ReplySyntax> SyntaxMemo::find(const common_chat_params& params) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.format == params.format && entry.generation_prompt == params.generation_prompt &&
           entry.parser == params.parser;
  });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->syntax;
}

std::shared_ptr<const ReplySyntax> SyntaxMemo::get(const common_chat_params& params) {
  if (auto known = find(params)) return known;
  auto syntax =
      std::make_shared<const ReplySyntax>(params.format, params.generation_prompt, params.parser);
  const std::lock_guard lock(mutex_);
  entries_.push_front({params.format, params.generation_prompt, params.parser, syntax});
  if (entries_.size() > kEntriesMax) entries_.pop_back();
  return syntax;
}

}  // namespace samovar
