// Bytes as lower-case hexadecimal text. Pure; any thread.
#pragma once

#include <string>

#include "base/bytes.h"

namespace samovar {

[[nodiscard]] std::string hex_text(Bytes bytes);

}  // namespace samovar
