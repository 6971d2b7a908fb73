#include "chat/syntax_memo.h"

#include <algorithm>

namespace samovar {
namespace {

constexpr std::size_t kEntriesMax = 16;  // agents with different tools at the same time

}  // namespace

std::shared_ptr<const ReplySyntax> SyntaxMemo::find(const SavedSyntax& saved) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const auto& syntax) {
    return syntax->saved.format == saved.format &&
           syntax->saved.generation_prompt == saved.generation_prompt &&
           syntax->saved.parser == saved.parser;
  });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return entries_.front();
}

std::shared_ptr<const ReplySyntax> SyntaxMemo::get(const SavedSyntax& saved) {
  if (auto known = find(saved)) return known;
  auto syntax = std::make_shared<const ReplySyntax>(static_cast<common_chat_format>(saved.format),
                                                    saved.generation_prompt, saved.parser);
  const std::lock_guard lock(mutex_);
  entries_.push_front(syntax);
  if (entries_.size() > kEntriesMax) entries_.pop_back();
  return syntax;
}

}  // namespace samovar
