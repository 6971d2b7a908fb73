// samovar-indexbench: what the store's index and catalog cost with 100,000 entries, on the machine
// it runs on. `samovar-indexbench [ENTRIES]`
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <random>
#include <string_view>

#include "base/clock.h"
#include "store/catalog.h"
#include "store/store_index.h"
#include "tests/support/store_records.h"

namespace samovar::bench {
namespace {

using namespace testing;

constexpr Position kPromptTokens = 32'768;
constexpr Position kNodeTokens = 512;
const Fingerprint kModel = model_named('m');

// The best of several runs: what it costs when nothing else disturbs.
template <class Work>
Micros best_of(int runs, const Work& work) {
  Micros best = std::numeric_limits<Micros>::max();
  for (int i = 0; i < runs; ++i) {
    const Micros start = system_clock().now();
    work();
    best = std::min(best, system_clock().now() - start);
  }
  return best;
}

void print(const char* what, Micros micros) {
  fmt::print("{:<58} {:>10.3f} ms\n", what, to_ms(micros));
}

// A line of segments with a snapshot on each.
void add_line(std::vector<BlobRecord>& records, TokenSpan prompt, Position node_tokens) {
  std::vector<Position> ends;
  for (Position at = node_tokens; at <= static_cast<Position>(prompt.size()); at += node_tokens) {
    ends.push_back(at);
  }
  const SessionId session = session_of(static_cast<int>(records.size()));
  for (const BlobRecord& segment : line_of(kModel, prompt, ends)) {
    records.push_back(segment);
    records.push_back(snapshot_of(segment, AnchorKind::history_end, session));
    records.back().label = "Some-Model-30B-A3B";
  }
}

// Conversations of 20 turns until there are enough entries.
std::vector<BlobRecord> conversations(std::size_t entries, TokenSpan prompt) {
  std::vector<BlobRecord> records;
  add_line(records, prompt, kNodeTokens);
  std::mt19937 random(1);
  while (records.size() < entries) {
    const auto node = static_cast<Position>(20 + random() % 200);
    add_line(records, random_tokens(random(), 20 * static_cast<std::size_t>(node)), node);
  }
  for (BlobRecord& record : records) {
    record.last_used = kNow - static_cast<std::int64_t>(random() % 1'000'000);
    record.uses = random() % 4;
  }
  return records;
}

StoreIndex index_of(const std::vector<BlobRecord>& records) {
  StoreIndex index;
  for (const BlobRecord& record : records) index.add(record, false);
  return index;
}

void walks(const StoreIndex& index, TokenSpan prompt, const char* what) {
  Position found = 0;
  print(fmt::format("longest, 32k prompt, {}", what).c_str(), best_of(50, [&] {
          const auto chain = index.longest(kModel, prompt, kPromptTokens, true);
          found = chain ? chain->position : 0;
        }));
  fmt::print("  brings back {} tokens\n", found);
}

void evictions(const StoreIndex& index) {
  std::size_t keys = 0;
  print("eviction_order, a tenth",
        best_of(5, [&] { keys = index.eviction_order(index.bytes() / 10, kNow).size(); }));
  print("eviction_order, all",
        best_of(5, [&] { keys = index.eviction_order(index.bytes(), kNow).size(); }));
  fmt::print("  {} entries ordered\n", keys);
  print("unreachable", best_of(5, [&] { keys = index.unreachable().size(); }));
}

int catalogs(const std::vector<BlobRecord>& records) {
  const auto folder = std::filesystem::temp_directory_path() / "samovar-indexbench";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder / "catalog.db";
  auto catalog = Catalog::open(path);
  if (!catalog) return 1;
  // Here only the time counts; that all were written is checked where they are loaded.
  print("catalog, all entries put in one transaction",
        best_of(1, [&] { (void)(*catalog)->apply({.put = records, .erased = {}, .used = {}}); }));
  print("catalog, one entry put", best_of(20, [&] {
          (void)(*catalog)->apply({.put = {records[0]}, .erased = {}, .used = {}});
        }));
  catalog->reset();
  std::size_t loaded = 0;
  print("catalog, opened", best_of(5, [&] {
          if (catalog) catalog->reset();
          catalog = Catalog::open(path);
        }));
  print("catalog, loaded", best_of(5, [&] { loaded = (*catalog)->load()->size(); }));
  fmt::print("  {} records, {} MB\n", loaded, (*catalog)->bytes() / 1'000'000);
  catalog->reset();
  std::filesystem::remove_all(folder);
  return loaded == records.size() ? 0 : 1;
}

int run(std::size_t entries) {
  const Tokens prompt = random_tokens(42, kPromptTokens);
  std::vector<BlobRecord> records = conversations(entries, prompt);
  fmt::print("{} entries\n", records.size());
  std::mt19937 random(2);
  std::shuffle(records.begin(), records.end(), random);

  print("all entries added", best_of(3, [&] { (void)index_of(records); }));
  StoreIndex index = index_of(records);
  walks(index, prompt, "64 nodes");
  print("sha-256 of the prompt once, for comparison",
        best_of(50, [&] { (void)identity_of(kModel, {}, prompt); }));
  const Tokens other = random_tokens(43, kPromptTokens);
  walks(index, other, "a miss");
  evictions(index);

  for (int i = 0; i < 10'000; ++i) {
    const auto size = static_cast<Position>(100 + i);
    index.add(segment_of(kModel, {}, random_tokens(1000 + i, 10'100), 0, size), false);
  }
  walks(index, prompt, "10,000 more first segments, no two alike");
  return catalogs(records);
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  std::size_t entries = 100'000;
  if (argc > 1) {
    const std::string_view text = argv[1];
    std::from_chars(text.data(), text.data() + text.size(), entries);
  }
  return samovar::bench::run(entries);
}
