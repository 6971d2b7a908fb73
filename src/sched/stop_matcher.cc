#include "sched/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace samovar {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopMatcher::push(std::string_view bytes) {
  if (matched()) return {};
  held_ += bytes;
  // The stop string that is complete first wins, the longer one of two that end together: the same
  // answer in whatever pieces the text arrives.
  std::size_t begin = std::string::npos;
  std::size_t end = std::string::npos;
  for (const std::string& stop : stops_) {
    const std::size_t found = held_.find(stop);
    if (found == std::string::npos) continue;
    const std::size_t found_end = found + stop.size();
    if (found_end > end || (found_end == end && found > begin)) continue;
    begin = found;
    end = found_end;
    found_ = stop;
  }
  if (begin != std::string::npos) {
    held_.resize(begin);
    return std::exchange(held_, {});
  }
  std::size_t keep = 0;
  for (const std::string& stop : stops_) {
    const std::string_view text = held_;
    for (std::size_t size = std::min(stop.size() - 1, text.size()); size > keep; --size) {
      if (text.ends_with(std::string_view(stop).substr(0, size))) keep = size;
    }
  }
  std::string certain = held_.substr(0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return certain;
}

std::string StopMatcher::flush() { return std::exchange(held_, {}); }

}  // namespace samovar
