#include "prefix/resume.h"

#include <algorithm>

#include "prefix/shared_prefix.h"
#include "prefix/splits.h"

namespace samovar {
namespace {

// A plain transformer can be cut anywhere, but only at a canonical cut are the bits those of a cold
// run. It goes back to the cut if that is this near.
constexpr Position kCanonicalDetour = 128;

}  // namespace

Resume find_resume(const ResumeInput& input, const ResidentView& resident) {
  Resume resume{.resident = &resident,
                .matched = shared_prefix(resident.tokens, input.prompt.tokens),
                .snapshot = nullptr};
  const Position limit = std::min(resume.matched, input.limit);
  const auto held = static_cast<Position>(resident.tokens.size());
  if (!resident.running && held == resume.matched && held <= limit) {
    resume.position = held;
    resume.live = true;
  } else if (input.rewind == RewindKind::anywhere) {
    const Position cut = last_cut_at(input.cuts, limit);
    resume.canonical = limit - cut <= kCanonicalDetour;
    resume.position = resume.canonical ? cut : limit;
  } else if (const Anchor* anchor = input.anchors.best(resident.id, limit)) {
    resume.position = anchor->position;
    resume.snapshot = anchor->snapshot;
  }
  if (resume.position < kReuseMin && !resume.live) resume.position = 0;
  return resume;
}

bool better(const Resume& a, const Resume& b) {
  if (a.position != b.position) return a.position > b.position;
  if (a.live != b.live) return a.live;
  if (a.resident->running != b.resident->running) return !a.resident->running;
  return a.resident->tokens.size() < b.resident->tokens.size();
}

double value_of(const ResidentView& resident) {
  const auto held = static_cast<Position>(resident.tokens.size());
  return static_cast<double>(std::max(0, held - resident.shared)) * resident.weight;
}

const ResidentView* find_empty(const std::vector<ResidentView>& residents) {
  const auto found = std::ranges::find_if(residents, [](const ResidentView& resident) {
    return resident.tokens.empty() && !resident.running;
  });
  return found == residents.end() ? nullptr : &*found;
}

const ResidentView* least_valuable(const std::vector<ResidentView>& residents, SeqId except,
                                   const std::vector<SeqId>& gone) {
  const ResidentView* least = nullptr;
  for (const ResidentView& resident : residents) {
    if (resident.running || resident.tokens.empty() || resident.id == except) continue;
    if (std::ranges::find(gone, resident.id) != gone.end()) continue;
    if (least == nullptr || value_of(resident) < value_of(*least)) least = &resident;
  }
  return least;
}

}  // namespace samovar
