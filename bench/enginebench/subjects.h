// The two sides of the speed comparison: a bare libllama loop, as one writes it in an afternoon,
// and the server's own path (scheduler, splits, anchors, sampler, events) over LlamaEngine. Both
// run on the calling thread and answer one prompt at a time, cold.
#pragma once

#include <memory>

#include "base/clock.h"
#include "core/tokens.h"
#include "measure.h"

namespace samovar::bench {

struct Run {
  Micros prefill = 0;  // from the request to the first token
  Micros decode = 0;   // from the first token to the last
  int replied = 0;     // tokens
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual Run answer(const Tokens& prompt, int reply) = 0;
};

std::unique_ptr<Subject> make_bare_subject(const BenchOptions& options);
std::unique_ptr<Subject> make_samovar_subject(const BenchOptions& options);

}  // namespace samovar::bench
