#include "tests/support/sim_crash.h"

#include <algorithm>

namespace samovar {
namespace {

std::size_t length_after(std::size_t durable, std::size_t size, std::mt19937_64& random) {
  switch (random() % 3) {
    case 0:
      return durable;
    case 1:
      return size;
    default:
      return durable + random() % (size - durable + 1);
  }
}

// Zeros [begin, end), or the part of it before or behind a random place, or nothing.
void settle_page(std::vector<std::uint8_t>& bytes, std::size_t begin, std::size_t end,
                 std::mt19937_64& random) {
  const std::uint64_t what = random() % 4;
  const std::size_t tear = begin + random() % (end - begin);
  if (what == 0) return;
  const std::size_t from = what == 1 ? tear : begin;
  const std::size_t to = what == 2 ? tear : end;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(to), std::uint8_t{0});
}

}  // namespace

void apply_change(const SimNameChange& change, SimEntries& entries) {
  if (change.node) {
    entries[change.name] = change.node;
  } else {
    entries.erase(change.name);
  }
}

bool survives(SimFate& fate, std::mt19937_64& random) {
  if (!fate.survives) {
    fate.survives = (!fate.only_if || survives(*fate.only_if, random)) && random() % 2 == 0;
  }
  return *fate.survives;
}

void settle_bytes(SimNode& file, std::mt19937_64& random) {
  if (file.durable < file.bytes.size()) {
    file.bytes.resize(length_after(file.durable, file.bytes.size(), random));
    const bool all_written = random() % 4 == 0;  // large files, too, sometimes survive whole
    std::size_t begin = all_written ? file.bytes.size() : file.durable;
    while (begin < file.bytes.size()) {
      const std::size_t page_end = (begin / SimDisk::kPage + 1) * SimDisk::kPage;
      const std::size_t end = std::min(page_end, file.bytes.size());
      settle_page(file.bytes, begin, end, random);
      begin = end;
    }
    file.durable = file.bytes.size();
  }
  if (file.modified != file.durable_modified && random() % 2 == 0) {
    file.modified = file.durable_modified;
  }
  file.durable_modified = file.modified;
  file.sync_failed = false;
}

}  // namespace samovar
