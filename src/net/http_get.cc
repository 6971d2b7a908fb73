#include "net/http_get.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "net/curl_easy.h"
#include "net/url.h"

namespace samovar::net {
namespace {

constexpr int kRedirectsMax = 8;
constexpr long kBytesPerSecondMin = 1024;  // less for `stall` is as good as nothing

struct EasyDeleter {
  void operator()(CURL* easy) const { ::curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// One address: an answer, whatever its status.
class Hop {
 public:
  Hop(const GetRequest& request, const GetHooks& hooks, std::string url)
      : request_(request), hooks_(hooks), url_(std::move(url)), easy_(::curl_easy_init()) {}

  // nullopt: it answered.
  std::optional<GetError> run(bool with_token) {
    set(with_token);
    const CURLcode code = ::curl_easy_perform(easy_.get());
    if (unwanted_) return std::nullopt;
    if (stopped_) return GetError{GetFault::stopped, "stopped"};
    if (code == CURLE_OK) return std::nullopt;
    return error_of(code);
  }

  [[nodiscard]] const HttpHead& head() const { return head_; }

  // Where a redirect leads, made absolute by libcurl; empty: nowhere.
  [[nodiscard]] std::string next() const {
    char* next = nullptr;
    if (!is_redirect(head_.status())) return {};
    ::curl_easy_getinfo(easy_.get(), CURLINFO_REDIRECT_URL, &next);
    return next == nullptr ? std::string() : next;
  }

 private:
  static std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* self) {
    return static_cast<Hop*>(self)->header_line({bytes, count}) ? count : 0;
  }
  static std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* self) {
    return static_cast<Hop*>(self)->body({reinterpret_cast<const std::uint8_t*>(bytes), count})
               ? count
               : 0;
  }
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    Hop& hop = *static_cast<Hop*>(self);
    if (hop.hooks_.stop && hop.hooks_.stop()) hop.stopped_ = true;
    return hop.stopped_ ? 1 : 0;
  }

  bool header_line(std::string_view line) {
    if (!head_.add_line(line) || is_redirect(head_.status())) return true;
    unwanted_ = hooks_.on_head && !hooks_.on_head(head_);
    return !unwanted_;
  }

  bool body(Bytes bytes) {
    if (is_redirect(head_.status())) return true;
    if (!hooks_.on_body || hooks_.on_body(bytes)) return true;
    stopped_ = true;
    return false;
  }

  void set(bool with_token) {
    CURL* easy = easy_.get();
    set_common(easy, url_, request_.connect);
    ::curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    ::curl_easy_setopt(easy, CURLOPT_USERAGENT, "samovar");
    ::curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, kBytesPerSecondMin);
    ::curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                       std::max(1L, static_cast<long>(request_.stall / kSecond)));
    ::curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, words_.data());
    ::curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    ::curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    ::curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    ::curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    ::curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
    for (const std::string& line : request_.headers) add_header(line);
    if (with_token) add_header("Authorization: Bearer " + request_.bearer);
    ::curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
  }

  void add_header(const std::string& line) {
    headers_.reset(::curl_slist_append(headers_.release(), line.c_str()));
  }

  [[nodiscard]] GetError error_of(CURLcode code) const {
    const std::string server = origin_of(url_);
    switch (code) {
      case CURLE_URL_MALFORMAT:
      case CURLE_UNSUPPORTED_PROTOCOL:
        return {GetFault::bad_address, fmt::format("\"{}\" is no address of a server", url_)};
      case CURLE_COULDNT_RESOLVE_HOST:
        return {GetFault::unreachable, fmt::format("there is no host {}", host_of(url_))};
      case CURLE_COULDNT_RESOLVE_PROXY:
        return {GetFault::unreachable, "the proxy of the environment cannot be found"};
      case CURLE_COULDNT_CONNECT:
        return {GetFault::unreachable, fmt::format("{} cannot be reached", server)};
      case CURLE_OPERATION_TIMEDOUT:
        return {head_.status() == 0 ? GetFault::unreachable : GetFault::broken,
                fmt::format("{} {}", server,
                            head_.status() == 0 ? "does not answer" : "stopped sending")};
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_SSL_CACERT_BADFILE:
        return {GetFault::unsafe,
                fmt::format("no safe connection to {}: {}", server, describe(code, words_))};
      default:
        return {GetFault::broken,
                fmt::format("the connection to {} broke off: {}", server, describe(code, words_))};
    }
  }

  const GetRequest& request_;
  const GetHooks& hooks_;
  const std::string url_;
  Easy easy_;
  std::unique_ptr<curl_slist, ListDeleter> headers_;
  CurlWords words_ = {};
  HttpHead head_;
  bool unwanted_ = false;
  bool stopped_ = false;
};

}  // namespace

std::expected<GetAnswer, GetError> http_get(const GetRequest& request, const GetHooks& hooks) {
  start_curl();
  GetAnswer answer;
  answer.url = request.url;
  const std::string first = origin_of(request.url);
  if (first.empty()) {
    return std::unexpected(GetError{
        GetFault::bad_address,
        fmt::format("\"{}\" is no address: it begins with http:// or https://", request.url)});
  }
  for (int hop = 0; hop <= kRedirectsMax; ++hop) {
    Hop exchange(request, hooks, answer.url);
    const bool own = origin_of(answer.url) == first;
    if (auto error = exchange.run(own && !request.bearer.empty())) {
      return std::unexpected(std::move(*error));
    }
    const std::string next = exchange.next();
    if (next.empty()) {
      answer.head = exchange.head();
      return answer;
    }
    if (answer.url.starts_with("https:") && !next.starts_with("https:")) {
      return std::unexpected(
          GetError{GetFault::unsafe, fmt::format("{} leads from https to {}, which is not safe",
                                                 origin_of(answer.url), origin_of(next))});
    }
    answer.hops.push_back(exchange.head());
    answer.url = next;
  }
  return std::unexpected(
      GetError{GetFault::bad_address, fmt::format("{} leads in circles", first)});
}

}  // namespace samovar::net
