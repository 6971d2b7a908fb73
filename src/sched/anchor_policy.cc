#include "sched/anchor_policy.h"

#include <algorithm>

#include "prefix/splits.h"

namespace samovar {

AnchorPolicy::AnchorPolicy(const Prompt& prompt, const std::vector<Position>& cuts, Position grid,
                           std::size_t snapshot_bytes, std::size_t budget_bytes)
    : enabled_(snapshot_bytes > 0),
      grid_(grid),
      system_cut_(last_cut_at(cuts, prompt.system_end)),
      history_cut_(last_cut_at(cuts, prompt.primer_start)) {
  if (!enabled_) return;
  const auto affordable = std::max<std::size_t>(1, budget_bytes / 2 / snapshot_bytes);
  spacing_ = static_cast<Position>(static_cast<std::size_t>(prompt.size()) / affordable);
  if (grid_ > 0) grid_ = std::max(grid_, spacing_);
  last_cut_ = cuts.empty() ? 0 : cuts.back();
  for (const Position start : prompt.message_starts) {
    const Position cut = last_cut_at(cuts, start);
    if (start < prompt.primer_start && !std::ranges::binary_search(prompt.reply_starts, start)) {
      question_cut_ = cut;
    }
    if (message_cuts_.empty() || message_cuts_.back() != cut) message_cuts_.push_back(cut);
  }
}

std::optional<AnchorKind> AnchorPolicy::at(Position position, Position previous) const {
  if (!enabled_ || position > last_cut_) return std::nullopt;
  if (position == system_cut_) return AnchorKind::system;
  if (position == divergence_cut_) return AnchorKind::divergence;
  if (position == history_cut_) return AnchorKind::history_end;
  if (position == question_cut_) return AnchorKind::message;
  const bool message = std::ranges::binary_search(message_cuts_, position);
  if (message && position - previous >= spacing_) return AnchorKind::message;
  if (grid_ > 0 && position - previous >= grid_) return AnchorKind::grid;
  return std::nullopt;
}

}  // namespace samovar
