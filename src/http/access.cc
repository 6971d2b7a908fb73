#include "http/access.h"

#include <arpa/inet.h>

#include <algorithm>

namespace samovar {

namespace {

constexpr std::string_view kEventsPath = "/v1/samovar/events";  // each answer holds a thread

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// "[::1]:80" -> "::1", "Localhost.:80" -> "localhost", "::1" -> "::1".
std::string host_name(std::string_view header) {
  std::string_view host = header;
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    return lower(host.substr(1, close == std::string_view::npos ? close : close - 1));
  }
  if (std::count(host.begin(), host.end(), ':') == 1) host = host.substr(0, host.find(':'));
  if (host.ends_with('.')) host.remove_suffix(1);
  return lower(host);
}

bool is_address(const std::string& host) {
  in6_addr parsed = {};
  return inet_pton(AF_INET, host.c_str(), &parsed) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

bool is_wildcard(std::string_view host) { return host == "0.0.0.0" || host == "::"; }

std::size_t count_headers(const Headers& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [name](const auto& header) { return lower(header.first) == name; }));
}

// Says that more bytes follow its head.
bool has_body(const Headers& headers) {
  if (find_header(headers, "Transfer-Encoding") != nullptr) return true;
  const std::string* length = find_header(headers, "Content-Length");
  return length != nullptr && *length != "0";
}

// A proxy on the way may use Authorization for itself, so another scheme there hides no x-api-key.
std::string_view given_key(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string* value = find_header(request.headers, "Authorization");
  if (value != nullptr && lower(value->substr(0, kScheme.size())) == kScheme) {
    std::string_view token = std::string_view(*value).substr(kScheme.size());
    while (token.starts_with(' ')) token.remove_prefix(1);
    return token;
  }
  value = find_header(request.headers, "x-api-key");
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

}  // namespace

bool is_loopback(std::string_view host) {
  const std::string name = host_name(host);
  in_addr v4 = {};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return name == "localhost" || name == "::1";
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^
                  static_cast<unsigned>(static_cast<unsigned char>(secret[i % secret.size()]));
  }
  return difference == 0;
}

Result<Access> Access::create(AccessOptions options) {
  if (options.api_keys.empty() && !is_loopback(options.host)) {
    return fail(ErrorKind::forbidden,
                "listening on " + options.host + " lets others in, and no key is set", "--host",
                "Set a key with --api-key-file or SAMOVAR_API_KEY, or listen on 127.0.0.1");
  }
  options.host = host_name(options.host);
  for (std::string& name : options.allowed_hosts) name = host_name(name);
  return Access(std::move(options));
}

bool Access::host_allowed(std::string_view host_header) const {
  const std::string name = host_name(host_header);
  if (is_loopback(name) || name == options_.host) return true;
  // A rebinding page carries its own name in Host, never an address, so addresses are safe.
  if (is_wildcard(options_.host) && is_address(name)) return true;
  const auto& allowed = options_.allowed_hosts;
  return std::find(allowed.begin(), allowed.end(), name) != allowed.end();
}

// Looks at every key, so that the time tells nothing about which one matched.
bool Access::key_known(std::string_view key) const {
  bool known = false;
  for (const std::string& secret : options_.api_keys) {
    known = equal_in_constant_time(key, secret) || known;
  }
  return known;
}

// A web page can send to this machine without asking: plain forms and simple requests need no CORS
// check. It could not read the answer, but it could keep the machine busy, or all places for
// listeners taken.
bool Access::from_other_site(const HttpRequest& request) const {
  const std::string* mode = find_header(request.headers, "Sec-Fetch-Mode");
  if (mode != nullptr && *mode == "no-cors") return true;
  const std::string* site = find_header(request.headers, "Sec-Fetch-Site");
  if (site != nullptr && *site == "cross-site") return true;
  const std::string* origin = find_header(request.headers, "Origin");
  if (origin == nullptr) return false;
  const std::size_t scheme = origin->find("://");
  return scheme == std::string::npos || !host_allowed(origin->substr(scheme + 3));
}

// Exact paths: what stands below or beside them may hold data.
bool Access::is_open(const HttpRequest& request) const {
  const auto& open = options_.open_paths;
  return reads(request) && (request.path == "/health" ||
                            std::find(open.begin(), open.end(), request.path) != open.end());
}

Status Access::check(const HttpRequest& request, bool http_1_0) const {
  const std::string* host = find_header(request.headers, "Host");
  const bool host_given = host != nullptr && !host->empty();
  if (host_given ? !host_allowed(*host) : !http_1_0) {
    return fail(ErrorKind::forbidden,
                host_given ? "this server is not reachable as '" + *host + "'"
                           : "the request has no Host header",
                "Host", "use the address it listens on, or start it with --allowed-host NAME");
  }
  if (count_headers(request.headers, "host") > 1) {
    return fail(ErrorKind::forbidden, "the request has several Host headers", "Host");
  }
  const bool costly = request.method == "POST" || request.path == kEventsPath;
  if (costly && from_other_site(request)) {
    return fail(ErrorKind::forbidden, "requests from other web sites are refused", "Origin");
  }
  if ((is_open(request) || request.path == "/health" || request.path == "/ready") &&
      has_body(request.headers)) {
    return fail(ErrorKind::invalid_argument, request.path + " takes no request body",
                "Content-Length", "send GET without a body");
  }
  if (options_.api_keys.empty() || is_open(request)) return {};
  const std::string_view key = given_key(request);
  if (key.empty()) {
    return fail(ErrorKind::unauthorized, "an API key is required", "Authorization",
                "send `Authorization: Bearer KEY` or `x-api-key: KEY`");
  }
  if (!key_known(key)) {
    return fail(ErrorKind::unauthorized, "the API key is not known here", "Authorization",
                "send a key that the server was started with");
  }
  return {};
}

}  // namespace samovar
