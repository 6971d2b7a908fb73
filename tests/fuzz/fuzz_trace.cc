// Fuzz target: the reader of traces. An input is a file, any bytes. What is read can be written and
// read again, put together, asked and redacted; what is not is refused with words. The same bytes
// are taken in as a log, too.
#include <string_view>

#include "replay/chat_json.h"
#include "replay/histories.h"
#include "replay/log_import.h"
#include "replay/redactor.h"
#include "replay/schedule.h"
#include "replay/trace_reader.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_trace {

void run(Bytes input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto imported = replay::import_log(text);
  if (imported) {
    fuzz::require(replay::read_trace(replay::write_trace(*imported)).has_value());
  } else {
    fuzz::require(!imported.error().message.empty());
  }
  const auto trace = replay::read_trace(text);
  if (!trace) return fuzz::require(!trace.error().message.empty());
  const std::string written = replay::write_trace(*trace);
  const auto again = replay::read_trace(written);
  fuzz::require(again.has_value() && replay::write_trace(*again) == written);
  const replay::Histories histories(*trace);
  for (std::size_t i = 0; i < trace->turns.size(); ++i) {
    const auto messages = histories.recorded_messages(i);
    fuzz::require(messages.size() <= histories.count(i));
    fuzz::require(
        !replay::completion_body(messages, histories.tools(i), histories.settings(i), "m", "s")
             .empty());
  }
  replay::Schedule schedule(*trace, {.speed = 0, .sessions = 1}, 0);
  while (const auto turn = schedule.next(0)) schedule.ended(*turn, 0, true);
  fuzz::require(schedule.done());
  const replay::Redactor redactor({.key = "k"});
  fuzz::require(replay::read_trace(replay::write_trace(redactor.trace(*trace))).has_value());
}

}  // namespace samovar::fuzz_trace

SAMOVAR_FUZZ_TARGET(fuzz_trace)
