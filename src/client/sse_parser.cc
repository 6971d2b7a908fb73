#include "client/sse_parser.h"

#include <utility>

namespace samovar::client {

std::vector<SseEvent> SseParser::push(std::string_view bytes) {
  std::vector<SseEvent> events;
  if (after_cr_ && bytes.starts_with('\n')) bytes.remove_prefix(1);
  if (!bytes.empty()) after_cr_ = false;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    const bool cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(events);
    if (cr && bytes.starts_with('\n')) bytes.remove_prefix(1);
    after_cr_ = cr && bytes.empty();
  }
  return events;
}

std::vector<SseEvent> SseParser::finish() {
  std::vector<SseEvent> events;
  if (!line_.empty()) end_line(events);
  end_line(events);
  return events;
}

void SseParser::end_line(std::vector<SseEvent>& events) {
  std::string whole = std::exchange(line_, {});
  std::string_view line = whole;
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    if (has_data_) events.push_back(std::move(event_));
    event_ = {};
    has_data_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") event_.name = value;
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

}  // namespace samovar::client
