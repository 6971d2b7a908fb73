#include "app/store_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "base/size_text.h"

namespace samovar::app {

namespace {

constexpr std::uint64_t kSizeMax = std::uint64_t{128} << 30;
constexpr std::uint64_t kSizeUnknown = std::uint64_t{8} << 30;
constexpr std::uint64_t kWritesPerDay = std::uint64_t{200} << 30;

// Of a segment: small enough that a few on their way from disk to the engine stay in the
// processor's cache, large enough that opening and syncing files does not matter.
constexpr std::size_t kSegmentBytes = std::size_t{6} << 20;
constexpr Position kSegmentTokensMax = 2048;
constexpr Position kSegmentTokensMin = 512;

// How many segments the buffers of each direction must hold, even if that makes them smaller.
constexpr std::size_t kSegmentsInBuffers = 6;

constexpr Micros kReadyWait = 2 * kSecond;  // for the index, usually read by now

std::uint64_t default_size(Fs& fs, const std::string& folder) {
  (void)fs.make_directory(folder);  // if it cannot be made, opening the store says so
  const auto space = fs.space(folder);
  if (!space) return kSizeUnknown;
  if (space->free / 2 >= kSizeMax) return kSizeMax;  // whatever is there already
  std::uint64_t own = 0;
  for (const DirEntry& entry : fs.list(folder, true).value_or(std::vector<DirEntry>{})) {
    if (!entry.directory) continue;
    const auto files = fs.list(join_path(folder, entry.name), true);
    if (!files) continue;
    for (const DirEntry& file : *files) own += file.bytes;
  }
  return std::min(kSizeMax, (space->free + own) / 2);
}

}  // namespace

Position segment_tokens(const ServeOptions& options, const EngineLimits& limits) {
  const std::size_t each = std::max<std::size_t>(1, limits.token_bytes);
  const std::size_t fit = options.store_buffers.value_or(0) / 2 / kSegmentsInBuffers / each;
  const auto tokens = static_cast<Position>(
      std::min<std::size_t>(kSegmentBytes / each, static_cast<std::size_t>(kSegmentTokensMax)));
  const auto most = static_cast<Position>(std::min<std::size_t>(fit, kSegmentTokensMax));
  return std::max<Position>(1, std::min(std::max(tokens, kSegmentTokensMin), most));
}

Result<std::unique_ptr<StoreParts>> StoreParts::open(const ServeOptions& options,
                                                     const LlamaEngine& engine, Meter& meter) {
  if (!options.store) return nullptr;
  std::unique_ptr<StoreParts> parts(new StoreParts());
  StoreOptions store;
  store.folder = options.store_dir;
  store.meter = &meter;
  store.size_max = options.store_size.value_or(0);
  if (store.size_max == 0) store.size_max = default_size(parts->fs_, store.folder);
  store.writes_per_day = options.store_writes_per_day.value_or(kWritesPerDay);
  store.buffer_bytes = options.store_buffers.value_or(0);
  if (const std::size_t least = 4 * engine.limits().snapshot_bytes; store.buffer_bytes < least) {
    log_warning(
        "store: a snapshot of this model takes {}: buffers of {} are used (--store-buffers)",
        format_bytes(engine.limits().snapshot_bytes), format_bytes(least));
    store.buffer_bytes = least;
  }
  store.model = Fingerprint{engine.state_format().fingerprint};
  store.layout = engine.state_format().layout;
  store.label = engine.model().name;
  store.needs_snapshot = engine.model().rewind == RewindKind::snapshot;
  store.segment_bytes = engine.limits().token_bytes *
                        static_cast<std::size_t>(segment_tokens(options, engine.limits()));
  store.snapshot_bytes = engine.limits().snapshot_bytes;
  store.snapshot_spacing = std::max<Position>(4096, options.anchor_grid);
  if (options.announce) {
    fmt::print(
        "store: {}, at most {} ({} written a day)\n", store.folder, format_bytes(store.size_max),
        store.writes_per_day == 0 ? "any number of bytes" : format_bytes(store.writes_per_day));
    std::fflush(stdout);
  }
  auto opened = Store::open(parts->fs_, system_clock(), std::move(store),
                            {parts->writer_, parts->readers_, parts->catalog_});
  if (!opened) return std::unexpected(opened.error());
  parts->store_ = std::move(*opened);
  parts->store_->wait_ready(kReadyWait);
  return parts;
}

StoreParts::~StoreParts() { close(0); }

void StoreParts::close(Micros deadline) {
  if (store_ == nullptr) return;
  if (!store_->drain(deadline) && deadline > 0) {
    log_warning("store: {} MiB were not written in time", store_->stats().queued_bytes >> 20);
  }
  store_->close();
  readers_.stop();
  writer_.stop();
  catalog_.stop();
  store_.reset();
}

}  // namespace samovar::app
