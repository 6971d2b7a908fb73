#include "app/turn_tracing.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "app/random_key.h"
#include "app/version.h"
#include "base/log.h"
#include "fs/posix_fs.h"

namespace samovar::app {
namespace {

FsResult<replay::TraceRecorder::File> open_file(const std::string& path) {
  PosixFs fs;
  if (auto made = fs.create(path)) return replay::TraceRecorder::File{std::move(*made), true};
  const auto size = fs.stat(path);
  if (!size) return std::unexpected(size.error());
  auto file = fs.append(path);
  if (!file) return std::unexpected(file.error());
  return replay::TraceRecorder::File{std::move(*file), size->bytes == 0};
}

std::unexpected<Error> refuse(std::string message, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), "--record", std::move(remedy));
}

std::string model_name(const ServeOptions& options) {
  if (!options.alias.empty()) return options.alias;
  return std::filesystem::path(options.model).stem().string();
}

replay::TraceSettings settings_of(const TurnAsked& asked, const ChatRequest& chat) {
  const SamplingParams& sampling = asked.sampling;
  replay::TraceSettings settings;
  settings.temperature = sampling.temperature;
  settings.top_p = sampling.top_p;
  settings.min_p = sampling.min_p;
  settings.top_k = sampling.top_k;
  if (sampling.presence_penalty != 0) settings.presence_penalty = sampling.presence_penalty;
  if (sampling.frequency_penalty != 0) settings.frequency_penalty = sampling.frequency_penalty;
  if (sampling.repeat_penalty != 1) settings.repeat_penalty = sampling.repeat_penalty;
  if (sampling.seed) settings.seed = *sampling.seed;
  settings.max_tokens = asked.max_tokens;
  settings.stop = asked.stop;
  settings.tool_choice = chat.tool_choice;
  settings.tool_choice_name = chat.tool_choice_name;
  settings.parallel_tool_calls = chat.parallel_tool_calls;
  settings.response_format = chat.response_format;
  settings.template_arguments = chat.template_arguments;
  settings.enable_thinking = chat.enable_thinking;
  return settings;
}

replay::TraceFigures figures_of(const TurnRecord& record) {
  const TurnTimings& timings = record.timings;
  replay::TraceFigures figures;
  figures.prompt = timings.prompt_tokens;
  figures.reused = timings.reused_tokens;
  figures.computed = timings.computed_tokens;
  figures.queue_ms = to_ms(timings.queue);
  figures.render_ms = to_ms(timings.render);
  figures.restore_ms = to_ms(timings.restore);
  figures.prefill_ms = to_ms(timings.prefill);
  if (timings.first_token > 0) figures.first_token_ms = to_ms(timings.first_token);
  figures.decode_ms = to_ms(timings.decode);
  const bool missed = record.miss && record.miss->tokens_lost > 0 &&
                      record.miss->cause != Cause::none && record.miss->cause != Cause::first_turn;
  if (missed) figures.miss = to_string(record.miss->cause);
  return figures;
}

}  // namespace

replay::EndedTurn ended_turn(const TurnTrace& turn) {
  replay::EndedTurn ended;
  ended.id = turn.origin.id;
  ended.session = turn.record.session;
  ended.dialect = turn.origin.dialect;
  ended.arrived = turn.origin.asked.arrived;
  ended.ended = turn.ended;
  ended.streamed = turn.origin.asked.streamed;
  ended.request = turn.origin.chat;
  ended.settings = settings_of(turn.origin.asked, *turn.origin.chat);
  ended.reply.message = turn.reply;
  ended.reply.finish = turn.record.finish;
  ended.reply.cut = turn.record.status != TurnStatus::complete;
  ended.reply.tokens = static_cast<std::int64_t>(turn.record.reply.size());
  ended.figures = figures_of(turn.record);
  return ended;
}

Result<std::unique_ptr<TurnTracing>> TurnTracing::open(const ServeOptions& options) {
  const std::string& path = options.record;
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 077U) != 0) {
    return refuse(path + " can be read or changed by other users",
                  "Make it private: chmod 600 " + path);
  }
  std::unique_ptr<TurnTracing> tracing(new TurnTracing);
  PosixFs fs;
  auto lock = fs.lock(path + ".lock", "samovar serve --record");
  if (!lock) {
    return refuse(lock.error().message, lock.error().fault == FsFault::exists
                                            ? "Another server records into this file: name another"
                                            : "Name a file that can be written");
  }
  tracing->lock_ = std::move(*lock);
  replay::TraceRecorder::Parts parts{.executor = tracing->writer_,
                                     .clock = system_clock(),
                                     .open = [path] { return open_file(path); },
                                     .made_by = fmt::format("samovar {} serve --record", kVersion),
                                     .model = model_name(options),
                                     .redact = std::nullopt};
  if (options.record_redact) parts.redact = replay::RedactOptions{.key = random_key()};
  auto recorder = replay::TraceRecorder::open(std::move(parts));
  if (!recorder) return std::unexpected(recorder.error());
  tracing->recorder_ = std::move(*recorder);
  fmt::print("recording every turn in {}, {}\n", path,
             options.record_redact ? "without its text" : "with its text");
  std::fflush(stdout);
  return tracing;
}

void TurnTracing::record(const TurnTrace& turn) {
  if (turn.record.status == TurnStatus::failed || turn.origin.chat->messages.empty()) return;
  recorder_->record(ended_turn(turn));
}

void TurnTracing::close() {
  if (std::exchange(closed_, true)) return;
  writer_.stop();
  if (recorder_ == nullptr) return;
  const auto counts = recorder_->counts();
  log_info("trace: {} turns were recorded{}", counts.written,
           counts.shed + counts.lost == 0
               ? std::string()
               : fmt::format(", {} were not", counts.shed + counts.lost));
}

}  // namespace samovar::app
