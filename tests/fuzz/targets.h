// The fuzz targets. Each is a file fuzz_<name>.cc with a function run() in a namespace of its own,
// and a folder corpus/<name>/ of inputs; scripts/fuzz.sh links one at a time with libFuzzer, and
// corpus_test.cc all of them. run() takes any bytes, aborts if something is wrong and keeps nothing
// between calls.
#pragma once

#include "base/bytes.h"

namespace samovar {

namespace fuzz_catalog {
void run(Bytes input);
}
namespace fuzz_chat {
void run(Bytes input);
}
namespace fuzz_completions {
void run(Bytes input);
}
namespace fuzz_import {
void run(Bytes input);
}
namespace fuzz_messages {
void run(Bytes input);
}
namespace fuzz_responses {
void run(Bytes input);
}
namespace fuzz_segment {
void run(Bytes input);
}
namespace fuzz_snapshot {
void run(Bytes input);
}
namespace fuzz_trace {
void run(Bytes input);
}

}  // namespace samovar

// libFuzzer's door, one to a program.
#ifdef SAMOVAR_LIBFUZZER
#define SAMOVAR_FUZZ_TARGET(name)                                                      \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) { \
    samovar::name::run({bytes, size});                                                 \
    return 0;                                                                          \
  }
#else
#define SAMOVAR_FUZZ_TARGET(name)
#endif
