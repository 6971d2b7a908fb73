// run_shell(): a command of the user's, by `sh -c`, until it ends. It gets no input, writes to our
// stderr, and is in a process group of its own with signals as at a login, so that what it starts
// outlives a Ctrl-C meant for us. Blocks; any thread. An exit code other than 0 is an error, and so
// is a command that does not end: it is asked to end then.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "bench/target.h"

namespace samovar::bench {

Status run_shell(const std::string& command, Micros within, const Clock& clock, const Stop& stop);

}  // namespace samovar::bench
