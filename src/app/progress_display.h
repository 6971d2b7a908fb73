// ProgressDisplay: lines for the user, and how far something long is, on stderr: a bar on a
// terminal, else lines now and then. Whoever does the work owns it; one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/progress_text.h"

namespace samovar::app {

class ProgressDisplay {
 public:
  using Say = std::function<void(const std::string& line)>;
  ProgressDisplay(Say say, ProgressStyle style);  // `say` prints a line
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void say(const std::string& line);
  void progress(const Progress& progress);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace samovar::app
