// StopMatcher: watches a growing reply for stop strings and holds back what could become one, so
// that no byte of a stop string is ever delivered. Belongs to one turn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samovar {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);

  // Adds bytes; returns those that are certain not to begin a stop string. After a match it returns
  // the bytes before the stop string, then nothing.
  std::string push(std::string_view bytes);

  // The reply ended without a match: what was held back.
  std::string flush();

  [[nodiscard]] bool matched() const { return !found_.empty(); }
  [[nodiscard]] const std::string& found() const { return found_; }  // empty: none yet

 private:
  std::vector<std::string> stops_;
  std::string held_;
  std::string found_;
};

}  // namespace samovar
