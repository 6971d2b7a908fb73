#include "net/http_head.h"

#include <charconv>

#include "net/url.h"

namespace samovar::net {
namespace {

int status_in(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  const std::string_view digits = line.substr(blank + 1, 3);
  int status = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), status);
  return status;
}

}  // namespace

bool HttpHead::add_line(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    headers_.clear();
    status_ = status_in(line);
    return false;
  }
  if (line.empty()) return status_ >= 200;  // after "100 Continue" another head follows
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  headers_[lower(line.substr(0, colon))] = value;
  return false;
}

std::string HttpHead::header(std::string_view name) const {
  const auto found = headers_.find(name);
  return found == headers_.end() ? std::string() : found->second;
}

}  // namespace samovar::net
