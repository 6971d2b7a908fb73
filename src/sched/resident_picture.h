// ResidentPicture: what the engine's memory holds at one moment, as a value that may leave the
// engine thread: for people who look, never for deciding. Memory::picture() makes it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "store/identity.h"

namespace samovar {

// A run of cells. Sequences with equal `run` share these very cells.
struct HeldCells {
  std::uint64_t run = 0;
  Position size = 0;
};

// An anchor. Equal `snapshot`: the same bytes, shared.
struct HeldSnapshot {
  Position position = 0;
  AnchorKind kind = AnchorKind::message;
  std::uint64_t snapshot = 0;
  std::size_t bytes = 0;
};

struct HeldSequence {
  SeqId sequence = 0;
  Tokens tokens;  // never empty
  std::vector<HeldCells> cells;
  std::vector<HeldSnapshot> anchors;  // ascending positions
  SessionId session;
  bool running = false;
  bool rewarmed = false;  // made by a re-warm, no turn has gone on in it
  Micros last_used = 0;   // on the engine's clock
  int turns = 0;
  double value = 0.0;  // the smallest of those that do not run goes first
};

struct ResidentPicture {
  std::vector<HeldSequence> sequences;  // those that hold something
};

}  // namespace samovar
