// What is refused before any handler sees it, in words: the HTTP library's bare statuses (a broken
// request line, a body beyond the limit), and what the reception turns away. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/http_types.h"
#include "base/result.h"

namespace samovar {

[[nodiscard]] Error refusal(int status, std::size_t body_bytes_max);

// 411, in the error form of the request's path.
[[nodiscard]] HttpResponse length_required(std::string_view path);

// A whole response that closes its connection, in the error form of the request's path. 503s say
// when to come again.
[[nodiscard]] std::string refusal_bytes(int status, const Error& error, std::string_view path);

}  // namespace samovar
