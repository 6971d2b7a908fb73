#include "net/url.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace samovar::net {
namespace {

// "example.org:8443", without scheme, user and path.
std::string_view authority_of(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto user = url.rfind('@'); user != std::string_view::npos) url.remove_prefix(user + 1);
  return url;
}

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~' || c == '/';
}

}  // namespace

std::string_view host_of(std::string_view url) {
  const std::string_view authority = authority_of(url);
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

bool is_local(std::string_view url) {
  const std::string host(host_of(url));
  in_addr address = {};
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1) {
    return (ntohl(address.s_addr) >> 24) == 127;
  }
  return host == "localhost" || host == "::1";
}

std::string origin_of(std::string_view url) {
  const std::string scheme = lower(url.substr(0, url.find("://")));
  if (scheme != "http" && scheme != "https") return {};
  const std::string_view authority = authority_of(url);
  const std::size_t after_host = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon = authority.find(':', after_host);
  std::string_view port =
      colon == std::string_view::npos ? std::string_view() : authority.substr(colon + 1);
  if (port.empty()) port = scheme == "https" ? "443" : "80";
  return fmt::format("{}://{}:{}", scheme, lower(host_of(url)), port);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

std::string escape_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    out += is_plain(byte) ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace samovar::net
