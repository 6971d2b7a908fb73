#include "sched/resident_picture.h"

#include <unordered_map>

#include "sched/memory.h"

namespace samovar {

ResidentPicture Memory::picture() const {
  std::unordered_map<const void*, std::uint64_t> names;
  const auto name = [&](const void* thing) {
    return names.try_emplace(thing, names.size()).first->second;
  };
  ResidentPicture picture;
  for (SeqId sequence = 0; sequence < sequences(); ++sequence) {
    const Resident& resident = this->resident(sequence);
    if (resident.tokens.empty()) continue;
    HeldSequence held;
    held.sequence = sequence;
    held.tokens = resident.tokens;
    for (const auto& [run, size] : cells_.held(sequence)) held.cells.push_back({name(run), size});
    for (const Anchor& anchor : anchors_.of(sequence)) {
      held.anchors.push_back(
          {anchor.position, anchor.kind, name(anchor.snapshot.get()), anchor.snapshot->bytes()});
    }
    held.session = resident.session;
    held.running = resident.running;
    held.rewarmed = resident.guest;
    held.last_used = resident.last_used;
    held.turns = resident.turns;
    held.value = value(sequence);
    picture.sequences.push_back(std::move(held));
  }
  return picture;
}

}  // namespace samovar
