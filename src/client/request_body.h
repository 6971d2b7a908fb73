// The JSON of a chat completion request. The same history gives the same bytes, always in one
// order, and nothing in it changes from one request to the next by itself: no date, no id. So a
// server that keeps prefixes finds them. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/history.h"

namespace samovar::client {

struct RequestSettings {
  std::string model;    // empty: the field is left out
  std::string session;  // prompt_cache_key
  std::optional<bool> thinking;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;
  std::optional<std::int64_t> seed;
};

// Fields that a server may refuse because it does not know them, by their JSON names.
using LeftOut = std::set<std::string, std::less<>>;

[[nodiscard]] std::string request_body(const History& history, const RequestSettings& settings,
                                       const LeftOut& left_out);

// Only the messages, as request_body() writes them.
[[nodiscard]] std::string messages_json(const History& history, bool with_reasoning);

// The optional field that a refusal (400, 422) complains about, if it is one that can be left out
// and is not yet.
[[nodiscard]] std::optional<std::string> refused_field(int status, std::string_view error,
                                                       const RequestSettings& settings,
                                                       const LeftOut& left_out);

}  // namespace samovar::client
