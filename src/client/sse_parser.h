// SseParser: the bytes of a text/event-stream into its events, wherever the network cuts them. By
// the standard: LF, CRLF or CR end a line, several data lines are one event, comments (keepalives)
// are passed over. A value; one per stream. Cannot fail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samovar::client {

struct SseEvent {
  std::string name;  // of the `event:` field; empty for most servers
  std::string data;
};

class SseParser {
 public:
  // The events that `bytes` complete, in order.
  std::vector<SseEvent> push(std::string_view bytes);

  // The stream ended: what a server sent without the empty line that ends an event.
  std::vector<SseEvent> finish();

 private:
  void end_line(std::vector<SseEvent>& events);

  std::string line_;  // not ended yet
  SseEvent event_;    // not ended yet
  bool has_data_ = false;
  bool after_cr_ = false;  // an LF belongs to the CR before it
  bool first_line_ = true;
};

}  // namespace samovar::client
