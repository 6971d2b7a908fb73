// The bench's modes. Each prints its result and returns; the numbers are what they measured,
// nothing is judged here.
#pragma once

#include "measure.h"

namespace samovar::bench {

// Cold prefill and decode: bare libllama loop against the server's path, alternately.
void run_speed(const BenchOptions& options);

// Decode of a 1,000-token conversation alone against beside `resident` tokens of idle ones.
void run_beside(const BenchOptions& options);

// How far the logits of a conversation move when others are decoded in the same call.
void run_drift(const BenchOptions& options);

// What taking and using snapshots costs: snapshot, rewind, fork.
void run_snapshots(const BenchOptions& options);

// Decode with metrics and turn recording and without, alternately on one engine; and what counting
// and recording a token takes by itself.
void run_recording(const BenchOptions& options);

// How well the model expects a text with these types of K/V.
void run_perplexity(const BenchOptions& options);

}  // namespace samovar::bench
