// What every exchange by libcurl sets alike, here and in the chat's client: http and https only, no
// signals, a proxy of the environment for the world outside and none for this machine. Also the
// library's global start. For code that includes <curl/curl.h>; any thread.
#pragma once

#include <curl/curl.h>

#include <array>
#include <string>

#include "base/clock.h"

namespace samovar::net {

// Once for the process; may be called again.
void start_curl();

void set_common(CURL* easy, const std::string& url, Micros connect_timeout);

// The library's own words about a failure.
using CurlWords = std::array<char, CURL_ERROR_SIZE>;
[[nodiscard]] std::string describe(CURLcode code, const CurlWords& words);

}  // namespace samovar::net
