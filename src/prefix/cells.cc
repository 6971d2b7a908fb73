#include "prefix/cells.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

namespace samovar {

CellLedger::CellLedger(int sequences, Position cells)
    : sequences_(static_cast<std::size_t>(sequences)), total_(cells) {}

Position CellLedger::length(SeqId sequence) const {
  Position sum = 0;
  for (const auto& run : sequences_[static_cast<std::size_t>(sequence)]) sum += run->size;
  return sum;
}

std::vector<CellLedger::Held> CellLedger::held(SeqId sequence) const {
  std::vector<Held> held;
  for (const auto& run : sequences_[static_cast<std::size_t>(sequence)]) {
    held.push_back({run.get(), run->size});
  }
  return held;
}

Position CellLedger::freed_by(std::span<const SeqId> dropped, SeqId cut, Position position) const {
  std::unordered_map<const Run*, int> leaving;
  for (const SeqId sequence : dropped) {
    for (const auto& run : sequences_[static_cast<std::size_t>(sequence)]) ++leaving[run.get()];
  }
  Position freed = 0;
  if (cut >= 0) {
    Position begin = 0;
    for (const auto& run : sequences_[static_cast<std::size_t>(cut)]) {
      const Position end = begin + run->size;
      const auto others = leaving.find(run.get());
      const int gone = 1 + (others == leaving.end() ? 0 : others->second);
      if (gone == run->holders) freed += std::max(0, end - std::max(begin, position));
      if (others != leaving.end()) leaving.erase(others);
      begin = end;
    }
  }
  for (const auto& [run, count] : leaving) {
    if (count == run->holders) freed += run->size;
  }
  return freed;
}

void CellLedger::append(SeqId sequence, Position count) {
  assert(count >= 0 && used_ + count <= total_);
  if (count == 0) return;
  auto& runs = sequences_[static_cast<std::size_t>(sequence)];
  if (!runs.empty() && runs.back()->holders == 1) {
    runs.back()->size += count;
  } else {
    runs.push_back(std::make_shared<Run>(Run{count, 1}));
  }
  used_ += count;
}

void CellLedger::truncate(SeqId sequence, Position position) {
  auto& runs = sequences_[static_cast<std::size_t>(sequence)];
  const std::size_t keep = split(sequence, position);
  for (std::size_t i = keep; i < runs.size(); ++i) {
    if (--runs[i]->holders == 0) used_ -= runs[i]->size;
  }
  runs.resize(keep);
}

void CellLedger::fork(SeqId source, SeqId target, Position position) {
  auto& to = sequences_[static_cast<std::size_t>(target)];
  assert(to.empty() && source != target);
  const std::size_t count = split(source, position);
  const auto& from = sequences_[static_cast<std::size_t>(source)];
  to.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  for (const auto& run : to) ++run->holders;
}

std::size_t CellLedger::split(SeqId sequence, Position position) {
  const auto& runs = sequences_[static_cast<std::size_t>(sequence)];
  Position begin = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (begin == position) return i;
    const RunPtr run = runs[i];
    if (position < begin + run->size) {
      const auto tail = std::make_shared<Run>(Run{begin + run->size - position, run->holders});
      run->size = position - begin;
      for (auto& other : sequences_) {
        const auto found = std::ranges::find(other, run);
        if (found != other.end()) other.insert(std::next(found), tail);
      }
      return i + 1;
    }
    begin += run->size;
  }
  assert(begin == position);
  return runs.size();
}

}  // namespace samovar
