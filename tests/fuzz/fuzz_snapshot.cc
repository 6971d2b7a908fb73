// Fuzz target: the reader of snapshot files. See blob_input.h for what an input is.
#include "tests/fuzz/blob_input.h"
#include "tests/fuzz/targets.h"

namespace samovar::fuzz_snapshot {

void run(Bytes input) { fuzz::read_blob_input(BlobKind::snapshot, input); }

}  // namespace samovar::fuzz_snapshot

SAMOVAR_FUZZ_TARGET(fuzz_snapshot)
