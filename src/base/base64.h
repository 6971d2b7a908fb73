// Base64 (RFC 4648, with padding) of bytes that travel inside JSON. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace samovar {

[[nodiscard]] std::string to_base64(std::string_view bytes);

// nullopt: not what to_base64() makes.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace samovar
