// What a crash of the machine leaves of one change of names and of one file: pure functions of the
// random engine. Part of SimDisk.
#pragma once

#include <random>

#include "tests/support/sim_disk.h"

namespace samovar {

void apply_change(const SimNameChange& change, SimEntries& entries);

// Decides once; every later question gets the same answer.
[[nodiscard]] bool survives(SimFate& fate, std::mt19937_64& random);

// Leaves the durable bytes, a length between them and the whole, and of every unsynced page in it
// all, nothing (zeros) or a part. Afterwards all of it is durable.
void settle_bytes(SimNode& file, std::mt19937_64& random);

}  // namespace samovar
