// What the HTTP library refuses by itself (a broken request line, a body beyond the limit) comes as
// a bare status; refusal() says it in words. Pure.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace samovar {

[[nodiscard]] Error refusal(int status, std::size_t body_bytes_max);

}  // namespace samovar
