#include "prefix/splits.h"

#include <algorithm>
#include <cassert>

namespace samovar {

std::vector<Position> canonical_cuts(const Prompt& prompt, Position ubatch, Position spacing) {
  assert(ubatch > 0 && spacing <= ubatch);
  std::vector<Position> cuts;
  Position last = 0;
  const auto fill_grid = [&](Position limit) {
    while (limit - last > ubatch) cuts.push_back(last += ubatch);
  };
  for (const Position start : prompt.message_starts) {
    fill_grid(start);
    const bool reply = std::ranges::binary_search(prompt.reply_starts, start);
    if (start > last && (reply || start - last >= spacing)) cuts.push_back(last = start);
  }
  fill_grid(prompt.size());
  if (prompt.size() - last == ubatch) cuts.push_back(prompt.size());
  return cuts;
}

Position last_cut_at(const std::vector<Position>& cuts, Position limit) {
  const auto after = std::ranges::upper_bound(cuts, limit);
  return after == cuts.begin() ? 0 : *std::prev(after);
}

Position call_end(const std::vector<Position>& cuts, Position position, Position size,
                  Position ubatch) {
  const auto next = std::ranges::upper_bound(cuts, position);
  const Position cut = next == cuts.end() ? size : *next;
  return std::min({cut, size, position + ubatch});
}

}  // namespace samovar
