#include "api/text_or_null.h"

#include <nlohmann/json.hpp>

namespace samovar {

nlohmann::ordered_json text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

}  // namespace samovar
