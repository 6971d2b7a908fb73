// Fuzz target: the reader of segment files. See blob_input.h for what an input is.
#include "tests/fuzz/blob_input.h"
#include "tests/fuzz/targets.h"

namespace samovar::fuzz_segment {

void run(Bytes input) { fuzz::read_blob_input(BlobKind::segment, input); }

}  // namespace samovar::fuzz_segment

SAMOVAR_FUZZ_TARGET(fuzz_segment)
