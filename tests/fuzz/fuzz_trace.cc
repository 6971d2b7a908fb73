// Fuzz target: the reader of traces. An input is a file, any bytes. What is read can be written and
// read again, put together and redacted; what is not is refused with words.
#include <string_view>

#include "replay/histories.h"
#include "replay/redactor.h"
#include "replay/schedule.h"
#include "replay/trace_reader.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_trace {

void run(Bytes input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto trace = replay::read_trace(text);
  if (!trace) return fuzz::require(!trace.error().message.empty());
  const std::string written = replay::write_trace(*trace);
  const auto again = replay::read_trace(written);
  fuzz::require(again.has_value() && replay::write_trace(*again) == written);
  const replay::Histories histories(*trace);
  for (std::size_t i = 0; i < trace->turns.size(); ++i) {
    fuzz::require(histories.recorded_messages(i).size() <= histories.count(i));
  }
  replay::Schedule schedule(*trace, {.speed = 0, .sessions = 1}, 0);
  while (const auto turn = schedule.next(0)) schedule.ended(*turn, 0, true);
  fuzz::require(schedule.done());
  const replay::Redactor redactor({.key = "k"});
  fuzz::require(replay::read_trace(replay::write_trace(redactor.trace(*trace))).has_value());
}

}  // namespace samovar::fuzz_trace

SAMOVAR_FUZZ_TARGET(fuzz_trace)
