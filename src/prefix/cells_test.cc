// Goal: shared cells are counted once, whatever forks, cuts and appends come in whatever order.
// Method: random operations against a model in which every cell is an object of its own.
#include "prefix/cells.h"

#include <map>
#include <memory>
#include <random>
#include <set>

namespace samovar {
namespace {

using CellIds = std::vector<int>;

struct Model {
  std::vector<CellIds> sequences;
  int next = 0;

  [[nodiscard]] Position used() const {
    std::set<int> all;
    for (const auto& cells : sequences) all.insert(cells.begin(), cells.end());
    return static_cast<Position>(all.size());
  }
  [[nodiscard]] Position freed_by(const std::vector<SeqId>& dropped, SeqId cut,
                                  Position position) const {
    Model after = *this;
    for (const SeqId sequence : dropped) after.sequences[static_cast<std::size_t>(sequence)] = {};
    if (cut >= 0) {
      after.sequences[static_cast<std::size_t>(cut)].resize(static_cast<std::size_t>(position));
    }
    return used() - after.used();
  }
};

Position held_size(const CellLedger& ledger, SeqId sequence) {
  Position sum = 0;
  for (const auto& held : ledger.held(sequence)) sum += held.size;
  return sum;
}

// Of all sequences, what they share counted once.
Position distinct_size(const CellLedger& ledger, int sequences) {
  std::map<const void*, Position> runs;
  for (SeqId sequence = 0; sequence < sequences; ++sequence) {
    for (const auto& held : ledger.held(sequence)) runs[held.run] = held.size;
  }
  Position sum = 0;
  for (const auto& [run, size] : runs) sum += size;
  return sum;
}

TEST(CellLedger, AgreesWithACellByCellModel) {
  constexpr int kSequences = 5;
  constexpr Position kCells = 400;
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    CellLedger ledger(kSequences, kCells);
    Model model{std::vector<CellIds>(kSequences)};
    for (int step = 0; step < 200; ++step) {
      const auto a = static_cast<SeqId>(random() % kSequences);
      const auto b = static_cast<SeqId>(random() % kSequences);
      auto& cells = model.sequences[static_cast<std::size_t>(a)];
      const auto length = static_cast<Position>(cells.size());
      switch (random() % 3) {
        case 0: {
          const auto count =
              std::min<Position>(ledger.free(), static_cast<Position>(random() % 40));
          ledger.append(a, count);
          for (Position i = 0; i < count; ++i) cells.push_back(model.next++);
          break;
        }
        case 1: {
          const auto position = static_cast<Position>(random() % (length + 1));
          ledger.truncate(a, position);
          cells.resize(static_cast<std::size_t>(position));
          break;
        }
        default: {
          if (a == b) break;
          const auto position = static_cast<Position>(random() % (length + 1));
          ledger.truncate(b, 0);
          ledger.fork(a, b, position);
          model.sequences[static_cast<std::size_t>(b)] =
              CellIds(cells.begin(), cells.begin() + position);
        }
      }
      ASSERT_EQ(ledger.used(), model.used());
      ASSERT_EQ(distinct_size(ledger, kSequences), model.used());
      for (SeqId sequence = 0; sequence < kSequences; ++sequence) {
        const auto index = static_cast<std::size_t>(sequence);
        const auto size = static_cast<Position>(model.sequences[index].size());
        ASSERT_EQ(ledger.length(sequence), size);
        ASSERT_EQ(held_size(ledger, sequence), size);
        const auto from = static_cast<Position>(random() % (size + 1));
        std::vector<SeqId> dropped;
        for (SeqId other = 0; other < kSequences; ++other) {
          if (other != sequence && random() % 2 == 0) dropped.push_back(other);
        }
        ASSERT_EQ(ledger.freed_by(dropped, sequence, from),
                  model.freed_by(dropped, sequence, from));
        ASSERT_EQ(ledger.freed_by(dropped), model.freed_by(dropped, -1, 0));
      }
    }
  }
}

}  // namespace
}  // namespace samovar
