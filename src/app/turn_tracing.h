// TurnTracing: `serve --record`: the trace's file, the thread that writes it, and what of a turn
// goes into it. record() from any thread, in microseconds; the rest belongs to the owner, who keeps
// it until no request is answered any more: threads of HTTP complete turns while a server stops.
#pragma once

#include <memory>

#include "app/options.h"
#include "base/executor.h"
#include "base/result.h"
#include "fs/fs.h"
#include "replay/trace_recorder.h"
#include "turn/turn_records.h"

namespace samovar::app {

class TurnTracing {
 public:
  // Opens options.record, or goes on at its end, and prints that and where turns are recorded.
  // Errors name --record: it cannot be written, others can read it, another server writes it.
  static Result<std::unique_ptr<TurnTracing>> open(const ServeOptions& options);
  ~TurnTracing() { close(); }

  // Turns that were not answered, and those without messages, are left out.
  void record(const TurnTrace& turn);

  // Writes what waits. Nothing is recorded from now on.
  void close();

 private:
  TurnTracing() = default;

  std::unique_ptr<FileLock> lock_;
  ThreadPool writer_{1, "trace-writer"};
  std::unique_ptr<replay::TraceRecorder> recorder_;
  bool closed_ = false;
};

// What a turn's client asked for and what it got, as a trace has it.
[[nodiscard]] replay::EndedTurn ended_turn(const TurnTrace& turn);

}  // namespace samovar::app
