// StoreRestore: a checkpoint on its way from disk to the engine. IO threads read and verify the
// next parts while the engine takes in the ones before; parts come out in order, segments from
// token 0, the snapshot last, each fully verified (S4). Owned by the engine thread; letting go of
// it cancels.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/buffer_pool.h"
#include "base/clock.h"
#include "core/anchor_kind.h"
#include "obs/meter.h"
#include "store/store_index.h"

namespace samovar {

struct RestoredPart {
  bool snapshot = false;
  Position begin = 0;
  Position end = 0;
  AnchorKind anchor = AnchorKind::message;  // of a snapshot
  bool canonical = false;
  Buffer bytes;
};

// Times of IO threads, which overlap one another and the engine's work.
struct RestoreFigures {
  std::uint64_t bytes = 0;  // payloads that came out so far
  Micros read = 0;
  Micros verify = 0;
};

class StoreRestore {
 public:
  enum class State {
    waiting,  // the next part is not here yet
    ready,    // take() gives it
    failed,   // a part is missing or bad: its file is dealt with; plan again
    done,     // every part was taken
  };

  virtual ~StoreRestore() = default;
  [[nodiscard]] virtual State state() = 0;
  virtual RestoredPart take() = 0;

  // The engine has taken everything in and computes from it: count it as used.
  virtual void succeeded() = 0;

  // The engine refused the part taken last, although its bytes are those that were written: it is
  // not offered again.
  virtual void refused() = 0;

  [[nodiscard]] virtual const StoredChain& chain() const = 0;
  // Of `failed`: what went wrong, and its class.
  [[nodiscard]] virtual std::string error() const = 0;
  [[nodiscard]] virtual RestoreFault fault() const = 0;
  [[nodiscard]] virtual RestoreFigures figures() const = 0;
};

}  // namespace samovar
