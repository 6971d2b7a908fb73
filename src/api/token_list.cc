#include "api/token_list.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace samovar {

Tokens read_token_list(const nlohmann::ordered_json& list, const std::string& path, int vocab_size,
                       Problem& problem) {
  Tokens tokens;
  if (!list.is_array() || list.empty()) {
    problem.report(fmt::format("'{}' must be a list of token ids, not {}", path,
                               list.is_array() ? "an empty list" : json_type_name(list)),
                   path);
    return tokens;
  }
  const std::int64_t end = vocab_size > 0 ? vocab_size : std::numeric_limits<Token>::max();
  tokens.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& id = list[i];
    const bool fits =
        id.is_number_integer() && id.get<std::int64_t>() >= 0 && id.get<std::int64_t>() < end;
    if (!fits) {
      const std::string place = fmt::format("{}[{}]", path, i);
      problem.report(fmt::format("'{}' is not a token of this model", place), place,
                     fmt::format("use token ids from 0 to {}", end - 1));
      return tokens;
    }
    tokens.push_back(id.get<Token>());
  }
  return tokens;
}

}  // namespace samovar
