#include "prefix/segment_ends.h"

#include <algorithm>

#include "prefix/splits.h"

namespace samovar {

std::vector<Position> segment_ends(const Prompt& prompt, const std::vector<Position>& cuts,
                                   Position stride) {
  const Position system = last_cut_at(cuts, prompt.system_end);
  std::vector<Position> ends;
  Position last = 0;
  for (const Position cut : cuts) {
    const bool reply = std::ranges::binary_search(prompt.reply_starts, cut);
    if (!reply && cut != system && cut - last < stride) continue;
    ends.push_back(cut);
    last = cut;
  }
  return ends;
}

}  // namespace samovar
