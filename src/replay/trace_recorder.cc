#include "replay/trace_recorder.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "replay/trace_lines.h"

namespace samovar::replay {
namespace {

constexpr Micros kRetryAfter = 5 * kSecond;

// What a turn holds in memory while it waits.
std::size_t bytes_of(const EndedTurn& turn) {
  std::size_t bytes = sizeof turn + turn.reply.message.content.size();
  for (const ChatMessage& message : turn.request->messages) {
    bytes += sizeof message + message.content.size() + message.reasoning.size();
    for (const ToolCall& call : message.tool_calls) bytes += call.arguments.size();
  }
  for (const Tool& tool : turn.request->tools) bytes += tool.parameters.size();
  return bytes;
}

}  // namespace

TraceRecorder::TraceRecorder(Parts parts) : parts_(std::move(parts)) {
  if (parts_.redact) redactor_.emplace(*parts_.redact);
}

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::open(Parts parts) {
  std::unique_ptr<TraceRecorder> recorder(new TraceRecorder(std::move(parts)));
  if (auto begun = recorder->begin_file(); !begun) {
    return fail(ErrorKind::invalid_argument, begun.error().message, "--record",
                "name a file that can be written");
  }
  return recorder;
}

FsStatus TraceRecorder::begin_file() {
  auto file = parts_.open();
  if (!file) return std::unexpected(file.error());
  file_ = std::move(*file);
  linker_.forget();
  started_ = parts_.clock.now();
  TraceHeader header;
  header.made_by = parts_.made_by;
  header.model = redactor_ ? redactor_->name(parts_.model) : parts_.model;
  header.created = parts_.clock.wall_seconds();
  header.redacted = redactor_.has_value();
  // What a crash or a full disk tore is closed off.
  return append((file_.fresh ? "" : "\n") + header_line(header) + "\n");
}

FsStatus TraceRecorder::append(const std::string& text) {
  return file_.writer->write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void TraceRecorder::record(EndedTurn turn) {
  const std::size_t bytes = bytes_of(turn);
  {
    const std::scoped_lock lock(mutex_);
    const bool full = waiting_turns_ >= parts_.turns_max ||
                      (waiting_turns_ > 0 && waiting_bytes_ + bytes > parts_.bytes_max);
    if (full) {
      ++shed_;
      if (std::exchange(shedding_, true)) return;
    } else {
      ++waiting_turns_;
      waiting_bytes_ += bytes;
    }
    if (full) {
      log_warning("trace: turns end faster than they are written; turn {} is left out", turn.id);
      return;
    }
  }
  parts_.executor.post([this, turn = std::move(turn), bytes] {
    write(turn);
    const std::scoped_lock lock(mutex_);
    --waiting_turns_;
    waiting_bytes_ -= bytes;
    if (waiting_turns_ > 0 || !std::exchange(shedding_, false)) return;
    log_warning("trace: turns are recorded again; {} were left out so far", shed_.load());
  });
}

void TraceRecorder::write(const EndedTurn& turn) {
  if (failing_) {
    if (parts_.clock.now() < retry_at_) {
      ++lost_;
      return;
    }
    if (auto begun = begin_file(); !begun) {
      ++lost_;
      return write_failed(begun.error());
    }
  }
  TraceTurn line = linker_.link({.id = turn.id,
                                 .session = turn.session,
                                 .dialect = turn.dialect,
                                 .arrived_ms = since_start(turn.arrived),
                                 .ended_ms = since_start(turn.ended),
                                 .streamed = turn.streamed,
                                 .request = turn.request.get(),
                                 .settings = turn.settings,
                                 .reply = turn.reply,
                                 .figures = turn.figures});
  if (redactor_) line = redactor_->turn(std::move(line));
  if (auto appended = append(turn_line(line) + "\n"); !appended) {
    ++lost_;
    return write_failed(appended.error());
  }
  ++written_;
  if (std::exchange(failing_, false)) {
    log_warning("trace: turns are recorded again; {} were lost so far", lost_.load());
  }
}

void TraceRecorder::write_failed(const FsError& error) {
  retry_at_ = parts_.clock.now() + kRetryAfter;
  file_.writer.reset();
  if (std::exchange(failing_, true)) return;
  log_warning("trace: {}; the server goes on without recording and tries again", error.message);
}

std::int64_t TraceRecorder::since_start(Micros at) const {
  return std::max<Micros>(0, at - started_) / kMillisecond;
}

TraceRecorder::Counts TraceRecorder::counts() const { return {written_, shed_, lost_}; }

}  // namespace samovar::replay
