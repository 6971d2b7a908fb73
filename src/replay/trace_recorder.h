// TraceRecorder: writes a server's turns into a trace while it runs. A turn is handed over in
// microseconds and written by another thread; what that one cannot keep up with is shed, newest
// first, and the log says so. A file that cannot be written is reported once and tried again: from
// there on the trace goes on with another header. Nothing here delays or fails a turn.
//
// record() from any thread; the rest belongs to the owner, who stops the executor before this goes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "fs/fs.h"
#include "replay/redactor.h"
#include "replay/trace.h"
#include "replay/turn_linker.h"

namespace samovar::replay {

// A turn that has ended, as the server knows it. Times are the monotonic clock's.
struct EndedTurn {
  std::string id;
  std::string session;
  std::string dialect;
  Micros arrived = 0;
  Micros ended = 0;
  bool streamed = true;
  std::shared_ptr<const ChatRequest> request;  // never null
  TraceSettings settings;
  TraceReply reply;
  TraceFigures figures;
};

class TraceRecorder {
 public:
  struct File {
    std::unique_ptr<FileWriter> writer;
    bool fresh = true;  // nothing is in it yet
  };
  struct Parts {
    Executor& executor;  // one thread
    const Clock& clock;
    std::function<FsResult<File>()> open;  // called again after a failure, on that thread
    std::string made_by;
    std::string model;
    std::optional<RedactOptions> redact;  // nullopt: text as it is
    std::size_t turns_max = 256;          // that wait to be written
    std::size_t bytes_max = std::size_t{64} << 20;
  };
  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t shed = 0;  // there was no room for them
    std::uint64_t lost = 0;  // the file could not be written
  };

  // Begins the file. Error: it cannot be opened or written.
  static Result<std::unique_ptr<TraceRecorder>> open(Parts parts);

  void record(EndedTurn turn);

  [[nodiscard]] Counts counts() const;

 private:
  explicit TraceRecorder(Parts parts);
  FsStatus begin_file();
  FsStatus append(const std::string& text);
  void write(const EndedTurn& turn);
  void write_failed(const FsError& error);
  [[nodiscard]] std::int64_t since_start(Micros at) const;

  const Parts parts_;
  std::optional<Redactor> redactor_;

  std::mutex mutex_;
  std::size_t waiting_turns_ = 0;  // guarded by mutex_
  std::size_t waiting_bytes_ = 0;  // guarded by mutex_
  bool shedding_ = false;          // guarded by mutex_
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> shed_ = 0;
  std::atomic<std::uint64_t> lost_ = 0;

  // The writing thread's own.
  File file_;
  TurnLinker linker_;
  Micros started_ = 0;   // times count from here
  Micros retry_at_ = 0;  // while the file cannot be written
  bool failing_ = false;
};

}  // namespace samovar::replay
