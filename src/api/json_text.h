// JSON text written by hand, for what is written once per token. Everything else goes through
// nlohmann; the tests hold both to the same bytes. Pure, any thread, nothing fails.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace samovar {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, one per
// maximal broken piece, as nlohmann's error_handler_t::replace does.
void append_json_string(std::string& out, std::string_view text);
[[nodiscard]] std::string json_string(std::string_view text);

// Compact text of any value; broken UTF-8 replaced, never an exception.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

}  // namespace samovar
