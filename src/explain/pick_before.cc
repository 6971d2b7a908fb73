#include "explain/pick_before.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace samovar {
namespace {

using Identities = std::vector<std::uint64_t>;

bool counts(const MessageShape& message) {
  return message.role != Role::system && message.role != Role::developer;
}

Identities identities(const TurnShape& shape) {
  Identities result;
  result.reserve(shape.messages.size() + 1);
  for (const MessageShape& message : shape.messages) {
    if (counts(message)) result.push_back(message.identity());
  }
  return result;
}

// How many messages `candidate` has at the same place as `after`.
std::size_t shared_in_place(const TurnShape& candidate, const Identities& after) {
  std::size_t place = 0;
  std::size_t shared = 0;
  for (const MessageShape& message : candidate.messages) {
    if (!counts(message)) continue;
    if (place == after.size()) return shared;
    if (message.identity() == after[place++]) ++shared;
  }
  const bool replied = candidate.reply && place < after.size() &&
                       candidate.reply->message.identity() == after[place];
  return shared + (replied ? 1 : 0);
}

// How many it has anywhere: a history that was compacted keeps its messages, not their places.
std::size_t shared_anywhere(const TurnShape& candidate, const Identities& sorted) {
  std::size_t shared = 0;
  for (const MessageShape& message : candidate.messages) {
    if (counts(message) && std::binary_search(sorted.begin(), sorted.end(), message.identity())) {
      ++shared;
    }
  }
  return shared;
}

}  // namespace

std::optional<std::size_t> pick_before(std::span<const TurnShape* const> candidates,
                                       const TurnShape& after) {
  const Identities own = identities(after);
  Identities sorted = own;
  std::sort(sorted.begin(), sorted.end());
  // Same session and something shared, then shared in place, then elsewhere, then the session only.
  using Score = std::tuple<int, std::size_t>;
  std::optional<std::size_t> best;
  Score best_score;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const TurnShape& candidate = *candidates[i];
    const bool same_session = after.session != 0 && candidate.session == after.session;
    std::size_t shared = shared_in_place(candidate, own);
    int rank = shared > 0 ? (same_session ? 5 : 3) : 0;
    if (rank == 0) {
      shared = shared_anywhere(candidate, sorted);
      if (shared > 0) rank = same_session ? 4 : 2;
    }
    if (rank == 0 && same_session) rank = 1;
    const Score score = {rank, shared};
    if (rank == 0 || (best && score < best_score)) continue;
    best = i;
    best_score = score;
  }
  return best;
}

}  // namespace samovar
