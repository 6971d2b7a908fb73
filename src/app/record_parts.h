// RecordParts: the ledger, what is compared and remembered of turns, and the thread this is done on
// when nobody waits for it. Opened once model and store are there; taken down after the engine
// thread, whose last events it records. One thread.
#pragma once

#include <memory>

#include "app/options.h"
#include "app/turn_tracing.h"
#include "base/executor.h"
#include "chat/chat_format.h"
#include "engine/llama_engine.h"
#include "ledger/ledger.h"
#include "turn/ledger_replies.h"
#include "turn/turn_records.h"

namespace samovar::app {

class RecordParts {
 public:
  // Prints where turns are recorded. Never fails: what cannot be written is kept in memory. `trace`
  // is told of every turn that has ended; may be null.
  RecordParts(const ServeOptions& options, const LlamaEngine& engine, const ChatFormat& format,
              Meter& meter, TurnTracing* trace);
  ~RecordParts();

  [[nodiscard]] TurnRecords& records() { return *records_; }
  [[nodiscard]] ReplySource* replies() { return replies_.get(); }  // null with --no-replay

  // Completes what has ended and writes it.
  void close();

 private:
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<LedgerReplies> replies_;
  std::unique_ptr<TurnRecords> records_;
  ThreadPool background_{1, "turn-records"};
};

}  // namespace samovar::app
