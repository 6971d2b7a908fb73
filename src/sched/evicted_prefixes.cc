#include "sched/evicted_prefixes.h"

#include <array>
#include <cstring>

namespace samovar {
namespace {

// Names the tokens up to the end of `piece`: a hash of the one before it and of the piece.
Checksum follow(const Checksum& before, TokenSpan piece) {
  std::array<std::uint8_t, sizeof(Checksum) + EvictedPrefixes::kGrid * sizeof(Token)> bytes{};
  std::memcpy(bytes.data(), &before.low, sizeof before.low);
  std::memcpy(bytes.data() + sizeof before.low, &before.high, sizeof before.high);
  std::memcpy(bytes.data() + sizeof before, piece.data(), piece.size_bytes());
  return checksum(bytes);
}

template <class Visit>
void along(TokenSpan tokens, const Visit& visit) {
  Checksum at;
  for (std::size_t end = EvictedPrefixes::kGrid; end <= tokens.size();
       end += EvictedPrefixes::kGrid) {
    at = follow(at, tokens.subspan(end - EvictedPrefixes::kGrid, EvictedPrefixes::kGrid));
    visit(at, static_cast<Position>(end));
  }
}

}  // namespace

void EvictedPrefixes::add(TokenSpan tokens) {
  along(tokens, [this](const Checksum& at, Position) {
    if (known_.insert(at).second) order_.push_back(at);
  });
  while (order_.size() > most_) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

// The whole way, because what was forgotten may lie before what is known.
Position EvictedPrefixes::reach(TokenSpan prompt) const {
  Position reach = 0;
  if (known_.empty()) return reach;
  along(prompt, [&](const Checksum& at, Position end) {
    if (known_.contains(at)) reach = end;
  });
  return reach;
}

}  // namespace samovar
