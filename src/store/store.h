// Store: checkpoints on disk, as the engine thread sees them. It finds the longest stored prefix of
// a prompt, hands out verified bytes part by part, takes frozen bytes to write, and keeps its
// folder within its budgets. Calls return at once: the disk is touched on the executors only.
//
// Whatever the disk does, a turn goes on without it: writing pauses after an error and is tried
// again later (S9), a file that cannot be read or does not verify is dropped from the index and the
// turn plans again. Every such event is logged once and counted in stats().
//
// Threads: the engine thread calls everything but open(), stats(), picture() and options(),
// which may be called from any. Executors must be gone (joined, or emptied) before the Store is.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/buffer_pool.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "fs/fs.h"
#include "obs/meter.h"
#include "store/store_index.h"
#include "store/store_picture.h"
#include "store/store_restore.h"
#include "store/store_stats.h"

namespace samovar {

struct StoreOptions {
  std::string folder;
  std::uint64_t size_max = 0;                         // bytes of everything in the folder
  std::uint64_t writes_per_day = 0;                   // bytes; 0: no limit
  std::size_t buffer_bytes = std::size_t{256} << 20;  // half for writing, half for reading
  bool catalog = true;  // false: the folder's files are the only index
  Meter* meter = &no_meter();

  // Of the model that is served.
  Fingerprint model;
  std::uint32_t layout = 0;
  std::string label;
  std::size_t segment_bytes = 0;     // of a full segment, about: so much is made ready in buffers
  std::size_t snapshot_bytes = 0;    // of a snapshot, likewise
  bool needs_snapshot = false;       // resumes only at a snapshot
  Position snapshot_spacing = 4096;  // tokens between outgrown snapshots of one session that stay
};

struct StoreExecutors {
  Executor& writer;   // one thread: order matters
  Executor& readers;  // some threads
  Executor& catalog;  // one thread
};

// What a writer knows of the bytes it hands over.
struct StoreOrigin {
  SessionId session;
  Micros cost = 0;  // engine time to compute the segment's tokens again
  bool canonical = false;
  bool urgent = false;  // it leaves memory now: written even when the day's budget runs low
};

class Store {
 public:
  // Fails only if another process owns the folder. Anything else wrong with it is logged, and the
  // store comes to life when it can. Loads its index in the background.
  static Result<std::unique_ptr<Store>> open(Fs& fs, const Clock& clock, StoreOptions options,
                                             StoreExecutors executors);
  ~Store();

  // The index is loaded; until then nothing is found.
  [[nodiscard]] bool ready() const;
  bool wait_ready(Micros deadline) const;  // any thread

  // Called (on an IO thread) when a part of a restore has arrived or failed.
  void set_wake(std::function<void()> wake);

  // --- reading ---

  // The longest usable checkpoint of `tokens` that ends at or before `limit`.
  [[nodiscard]] std::optional<StoredChain> longest(TokenSpan tokens, Position limit) const;

  // Begins to read. `tokens` must be those that longest() was asked for.
  [[nodiscard]] std::unique_ptr<StoreRestore> restore(StoredChain chain, TokenSpan tokens);

  // What the longest checkpoint of `tokens` that ends at or before `limit` would be, had nothing
  // been evicted to make room, as far as that is remembered; 0: no longer than what is there.
  [[nodiscard]] Position evicted(TokenSpan tokens, Position limit) const;

  // --- writing ---

  // False while writing makes no sense (offline, full, over budget): export nothing then.
  [[nodiscard]] bool accepts(bool urgent) const;

  [[nodiscard]] StoredCover cover(TokenSpan tokens) const;
  [[nodiscard]] std::optional<Identity> node_at(TokenSpan tokens, Position position) const;
  [[nodiscard]] bool has_snapshot(const Identity& node) const;

  // Memory for a segment's bytes. nullopt: the writer is behind.
  std::optional<Buffer> buffer(std::size_t bytes);

  // Queues the segment that follows `parent`. nullopt: refused. The identity is that of its end.
  std::optional<Identity> write_segment(const Identity& parent, Position begin, TokenSpan tokens,
                                        Buffer payload, const StoreOrigin& origin);

  // Queues the snapshot at the end of a segment that is stored or queued. `owner` keeps `bytes`
  // alive; `tokens` are those of the whole prefix. False: refused, or the writer is behind.
  bool write_snapshot(const Identity& node, TokenSpan tokens, std::shared_ptr<const void> owner,
                      Bytes bytes, AnchorKind anchor, const StoreOrigin& origin);

  // Whether replies are running: the writer then keeps off the processor (see pacer.h).
  void set_busy(bool busy);

  // Counts up when something that was stored or queued is lost. Eviction is none.
  [[nodiscard]] std::uint64_t losses() const;

  // Looks after health: tries again after errors, keeps the folder within budget. Now and then.
  void tend();

  // --- the end ---

  // Writes what is queued without pacing, at most until `deadline` (a duration); then flushes the
  // catalog. True if nothing was left.
  bool drain(Micros deadline);

  // Gives up what is still queued. Before the executors are stopped.
  void close();

  [[nodiscard]] StoreStats stats() const;

  // What it holds of this model, for people. Takes O(n log n) of all entries, with the index locked
  // for a copy of them: not to be asked for more often than somebody can look.
  [[nodiscard]] StorePicture picture() const;

  [[nodiscard]] const StoreOptions& options() const;

 private:
  struct Parts;
  explicit Store(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

}  // namespace samovar
