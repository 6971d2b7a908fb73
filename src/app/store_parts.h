// StoreParts: the checkpoint store with what it runs on: the machine's file system and its IO
// threads. Opened once the model's fingerprint is known; taken down after the engine thread, which
// hands it its last bytes. One thread.
#pragma once

#include <memory>

#include "app/options.h"
#include "base/executor.h"
#include "base/result.h"
#include "engine/llama_engine.h"
#include "fs/posix_fs.h"
#include "store/store.h"

namespace samovar::app {

class StoreParts {
 public:
  // Null with --no-store. Prints where the store is and how large it may grow. Fails if another
  // process owns the folder.
  static Result<std::unique_ptr<StoreParts>> open(const ServeOptions& options,
                                                  const LlamaEngine& engine, Meter& meter);
  ~StoreParts();

  [[nodiscard]] Store& store() { return *store_; }

  // Writes what is queued, for `deadline` at most, then ends the threads.
  void close(Micros deadline);

 private:
  StoreParts() = default;

  PosixFs fs_;
  ThreadPool readers_{2, "store-read"};
  ThreadPool writer_{1, "store-write"};
  ThreadPool catalog_{1, "store-catalog"};
  std::unique_ptr<Store> store_;
};

// Of a segment, so that a few of them fit the buffers: the store's unit of reading ahead.
[[nodiscard]] Position segment_tokens(const ServeOptions& options, const EngineLimits& limits);

}  // namespace samovar::app
