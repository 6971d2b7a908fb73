#include "net/curl_easy.h"

#include <mutex>

#include "net/url.h"

namespace samovar::net {

void start_curl() {
  static std::once_flag once;
  std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
}

void set_common(CURL* easy, const std::string& url, Micros connect_timeout) {
  ::curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  ::curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  ::curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(connect_timeout / kMillisecond));
  // A proxy of the environment is for the world outside.
  if (is_local(url)) ::curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

std::string describe(CURLcode code, const CurlWords& words) {
  return words[0] != 0 ? words.data() : ::curl_easy_strerror(code);
}

}  // namespace samovar::net
