// HttpHead: status and headers of an HTTP answer, fed line by line as libcurl delivers them. A
// value; any thread, one at a time. Header values are what the server sent: not checked, perhaps no
// UTF-8.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace samovar::net {

class HttpHead {
 public:
  // One line with its line end. A status line begins a new head. True: the head is complete.
  bool add_line(std::string_view line);

  [[nodiscard]] int status() const { return status_; }            // 0: none yet
  [[nodiscard]] std::string header(std::string_view name) const;  // lower case; empty: not there

 private:
  int status_ = 0;
  std::map<std::string, std::string, std::less<>> headers_;
};

}  // namespace samovar::net
