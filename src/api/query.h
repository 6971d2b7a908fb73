// The query part of a request's path ("a=1&b=x%20y"). Pure; any thread. Errors: invalid_argument
// with the parameter's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace samovar {

class Query {
 public:
  explicit Query(std::string_view text);

  // The last value of that name, decoded; nullopt if there is none.
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t fallback,
                                             std::int64_t min, std::int64_t max) const;

 private:
  std::vector<std::pair<std::string, std::string>> parts_;
};

}  // namespace samovar
