// What the tests of the planners share: a world of resident sequences to plan in. One thread.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "prefix/planner.h"
#include "prefix/splits.h"

namespace samovar {

inline constexpr Position kUbatch = 512;

class NoState final : public Snapshot {
 public:
  explicit NoState(Position position) : position_(position) {}
  [[nodiscard]] Position position() const override { return position_; }
  [[nodiscard]] std::size_t bytes() const override { return 100; }

 private:
  Position position_;
};

// Tokens first, first+1, ... : two prompts share a prefix as long as they count alike.
inline Tokens count_up(int size, Token first = 0) {
  Tokens tokens(static_cast<std::size_t>(size));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// The first `shared` tokens of count_up, then others.
inline Tokens departing(int shared, int size, Token other = 100'000) {
  Tokens tokens = count_up(shared);
  const Tokens rest = count_up(size - shared, other);
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  return tokens;
}

class World {
 public:
  explicit World(int sequences, Position cells = 100'000, RewindKind kind = RewindKind::snapshot)
      : rewind(kind),
        held(static_cast<std::size_t>(sequences)),
        ledger(sequences, cells),
        anchors(sequences, 1 << 30) {
    for (SeqId id = 0; id < sequences; ++id) residents.push_back({.id = id, .tokens = {}});
  }

  World& resident(SeqId id, Tokens tokens, std::vector<Position> anchor_positions,
                  Position history_end, double weight = 1.0, bool running = false) {
    const auto index = static_cast<std::size_t>(id);
    held[index] = std::move(tokens);
    ledger.append(id, static_cast<Position>(held[index].size()));
    for (const Position at : anchor_positions) {
      anchors.add(id, {.position = at, .snapshot = std::make_shared<NoState>(at)});
    }
    residents[index] = {.id = id,
                        .tokens = held[index],
                        .running = running,
                        .history_end = history_end,
                        .weight = weight};
    return *this;
  }

  std::expected<Plan, PlanBlocked> plan(const Tokens& tokens, Position reserved = 0) {
    Prompt prompt;
    prompt.tokens = tokens;
    const auto cuts = canonical_cuts(prompt, kUbatch, 96);
    return make_plan({.prompt = prompt,
                      .cuts = cuts,
                      .rewind = rewind,
                      .residents = residents,
                      .anchors = anchors,
                      .cells = ledger,
                      .cells_reserved = reserved,
                      .prefill_us_per_token = us_per_token,
                      .stored = stored,
                      .stored_us = stored_us});
  }

  // What the store holds of the prompt, and what bringing it back would take.
  World& on_disk(Position tokens, double restore_us, double prefill_us) {
    stored = tokens;
    stored_us = restore_us;
    us_per_token = prefill_us;
    return *this;
  }

  RewindKind rewind;
  std::vector<Tokens> held;
  CellLedger ledger;
  Anchors anchors;
  std::vector<ResidentView> residents;
  Position stored = 0;
  double stored_us = 0.0;
  double us_per_token = 0.0;
};

}  // namespace samovar
