#include "tests/support/store_rig.h"

#include <algorithm>

#include "store/store_folder.h"

namespace samovar::testing {
namespace {

std::uint64_t hash_of(TokenSpan tokens, std::uint64_t hash) {
  for (const Token token : tokens)
    hash = (hash ^ static_cast<std::uint64_t>(token)) * 0x100000001b3;
  return hash;
}

}  // namespace

Talk talk_of(int seed, std::vector<Position> ends) {
  return {.tokens = random_tokens(static_cast<std::uint32_t>(seed),
                                  static_cast<std::size_t>(ends.back()) + 10),
          .ends = std::move(ends),
          .session = session_of(seed)};
}

Talk branch_of(const Talk& trunk, Position shared, int seed, const std::vector<Position>& ends) {
  Talk talk = talk_of(seed, ends);
  std::copy_n(trunk.tokens.begin(), shared, talk.tokens.begin());
  std::vector<Position> cuts;
  std::ranges::copy_if(trunk.ends, std::back_inserter(cuts),
                       [shared](Position end) { return end <= shared; });
  std::ranges::copy_if(ends, std::back_inserter(cuts),
                       [shared](Position end) { return end > shared; });
  talk.ends = std::move(cuts);
  return talk;
}

StoreRig::StoreRig() {
  options.folder = "/disk/store";
  options.size_max = std::uint64_t{1} << 30;
  options.buffer_bytes = std::size_t{8} << 20;
  options.catalog = false;
  options.model = model_named('m');
  options.layout = 7;
  options.label = "fake";
  options.needs_snapshot = true;
  [[maybe_unused]] const FsStatus made = fs.make_directory("/disk");
  fs.sync_all();
}

StoreRig::~StoreRig() { die(); }

Status StoreRig::open() {
  auto opened = Store::open(fs, time, options, {writer, readers, catalog});
  if (!opened) return std::unexpected(opened.error());
  store = std::move(*opened);
  settle();
  return {};
}

std::size_t StoreRig::settle() {
  std::size_t total = 0;
  for (std::size_t ran = 1; ran > 0; total += ran) {
    ran = writer.run_all() + readers.run_all() + catalog.run_all();
  }
  return total;
}

void StoreRig::close() {
  settle();
  if (store) store->close();
  settle();
  store.reset();
}

void StoreRig::die() {
  fs.kill_process();
  writer.drop_all();
  readers.drop_all();
  catalog.drop_all();
  store.reset();
}

std::vector<std::uint8_t> StoreRig::payload(BlobKind kind, const Talk& talk, Position begin,
                                            Position end) const {
  const bool segment = kind == BlobKind::segment;
  const auto from = static_cast<std::size_t>(segment ? begin : 0);
  const auto to = static_cast<std::size_t>(end);
  std::mt19937_64 random(
      hash_of(TokenSpan(talk.tokens).subspan(from, to - from), segment ? 17 : 42));
  std::vector<std::uint8_t> bytes(segment ? (to - from) * token_bytes : snapshot_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

bool StoreRig::write(const Talk& talk, Position until, AnchorKind anchor, bool urgent) {
  const TokenSpan tokens = TokenSpan(talk.tokens).first(static_cast<std::size_t>(until));
  const StoreOrigin origin{
      .session = talk.session, .cost = cost, .canonical = true, .urgent = urgent};
  const StoredCover cover = store->cover(tokens);
  Identity node = cover.node;
  Position begin = cover.until;
  for (const Position end : talk.ends) {
    if (end <= begin || end > until) continue;
    const auto bytes = payload(BlobKind::segment, talk, begin, end);
    auto buffer = store->buffer(bytes.size());
    if (!buffer) return false;
    std::ranges::copy(bytes, buffer->writable().begin());
    const auto made = store->write_segment(
        node, begin,
        tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
        std::move(*buffer), origin);
    if (!made) return false;
    node = *made;
    begin = end;
  }
  if (!options.needs_snapshot || store->has_snapshot(node)) return true;
  auto state =
      std::make_shared<std::vector<std::uint8_t>>(payload(BlobKind::snapshot, talk, 0, until));
  const Bytes bytes = *state;
  return store->write_snapshot(node, tokens, std::move(state), bytes, anchor, origin);
}

Position StoreRig::offered(const Talk& talk) const {
  const auto chain = store->longest(talk.tokens, static_cast<Position>(talk.tokens.size()));
  return chain ? chain->position : 0;
}

std::optional<Position> StoreRig::restore(const Talk& talk) {
  trouble.clear();
  auto chain = store->longest(talk.tokens, static_cast<Position>(talk.tokens.size()));
  if (!chain) return 0;
  const auto restore = store->restore(std::move(*chain), talk.tokens);
  Position reached = 0;
  while (true) {
    switch (restore->state()) {
      case StoreRestore::State::waiting:
        if (readers.run_one()) continue;
        trouble = "nothing is being read, but the restore waits";
        ADD_FAILURE() << trouble;
        return std::nullopt;
      case StoreRestore::State::failed:
        trouble = restore->error();
        return std::nullopt;
      case StoreRestore::State::done:
        restore->succeeded();
        return reached;
      case StoreRestore::State::ready:
        break;
    }
    const RestoredPart part = restore->take();
    const BlobKind kind = part.snapshot ? BlobKind::snapshot : BlobKind::segment;
    EXPECT_EQ(part.begin <= reached, true) << "a gap";
    EXPECT_TRUE(std::ranges::equal(part.bytes.bytes(), payload(kind, talk, part.begin, part.end)))
        << "bytes that nobody wrote, [" << part.begin << ", " << part.end << ")";
    reached = part.end;
  }
}

Position StoreRig::restore_any(const Talk& talk) {
  for (int tries = 0; tries < 100; ++tries) {
    const auto reached = restore(talk);
    settle();
    if (reached) return *reached;
  }
  ADD_FAILURE() << "restores fail for ever: " << trouble;
  return 0;
}

std::vector<std::string> StoreRig::files(const std::string& ending) const {
  std::vector<std::string> found;
  for (const std::string& path : fs.paths()) {
    if (path.ends_with(ending)) found.push_back(path);
  }
  return found;
}

std::string StoreRig::untidy() const {
  const auto temporaries = files(".tmp");
  if (!temporaries.empty()) return "left behind: " + temporaries.front();
  const std::uint64_t counted = store->stats().bytes;
  const std::uint64_t used = fs.used_bytes();
  // A crash may leave both names of a file that was moved there, and the disk has it once.
  std::uint64_t twice = 0;
  for (const std::string& path : fs.paths()) {
    if (!path.contains("/quarantine/") || path.ends_with('/')) continue;
    const std::string name = path.substr(path.rfind('/'));
    const std::string first = options.folder + "/" + options.model.hex().substr(0, 16) + name;
    const auto bytes = fs.read_raw(first);
    if (bytes && bytes == fs.read_raw(path)) twice += on_disk(bytes->size());
  }
  if (used <= counted && counted <= used + twice) return {};
  return "the folder takes " + std::to_string(used) + " bytes, " + std::to_string(counted) +
         " are counted";
}

std::string StoreRig::path_of(BlobKind kind, const Talk& talk, Position end) const {
  Identity node;
  Position begin = 0;
  for (const Position cut : talk.ends) {
    if (cut > end) break;
    node = identity_of(
        options.model, node,
        TokenSpan(talk.tokens)
            .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(cut - begin)));
    begin = cut;
  }
  return options.folder + "/" + options.model.hex().substr(0, 16) + "/" + blob_name(kind, node);
}

}  // namespace samovar::testing
