// What must be known of an address before anything is sent to it: whose it is, and whether it is
// this machine. Pure functions; any thread. They read what libcurl will accept; what they cannot
// read gives empty text.
#pragma once

#include <string>
#include <string_view>

namespace samovar::net {

// "example.org" of "https://example.org:8443/a/b"; of an IPv6 address, without its brackets.
[[nodiscard]] std::string_view host_of(std::string_view url);

// "localhost", 127.x.x.x or ::1.
[[nodiscard]] bool is_local(std::string_view url);

// "https://example.org:443": scheme and host in lower case, the port always said. Two addresses
// belong to one server if their origins are equal. Empty: neither http nor https.
[[nodiscard]] std::string origin_of(std::string_view url);

[[nodiscard]] std::string lower(std::string_view text);  // ASCII letters only

// A path of segments with "/" between them, everything else but letters, digits and -._~ as %XX.
[[nodiscard]] std::string escape_path(std::string_view path);

}  // namespace samovar::net
