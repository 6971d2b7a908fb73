#include "replay/trace_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWholeMax = 9.0e15;  // where doubles still tell whole numbers apart

}  // namespace

void Trouble::report(std::string message, std::string field) {
  if (error_) return;
  error_ = Error{ErrorKind::invalid_argument, std::move(message), std::move(field), {}};
}

// Brackets outside of strings; the text need not be JSON.
bool is_deeper(std::string_view text, int levels) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (quoted) {
      if (byte == '\\') ++i;
      if (byte == '"') quoted = false;
      continue;
    }
    if (byte == '"') quoted = true;
    if (byte == '{' || byte == '[') ++depth;
    if (byte == '}' || byte == ']') --depth;
    if (depth > levels) return true;
  }
  return false;
}

Result<Json> parse_object(std::string_view text) {
  if (is_deeper(text, kJsonDepthMax)) {
    return fail(ErrorKind::too_large, fmt::format("more than {} levels of JSON", kJsonDepthMax));
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorKind::invalid_argument, "this is no JSON");
  if (!json.is_object()) return fail(ErrorKind::invalid_argument, "this is no JSON object");
  return json;
}

Fields::Fields(const Json& json, std::string path, Trouble& trouble)
    : json_(&json), path_(std::move(path)), trouble_(&trouble) {
  if (!json.is_object()) trouble.report("an object is expected here", path_);
}

std::string Fields::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

const Json* Fields::find(std::string_view name) const {
  if (!json_->is_object()) return nullptr;
  const auto found = json_->find(name);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

std::string Fields::text(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  wrong(name, "a string");
  return {};
}

std::string Fields::required_text(std::string_view name) const {
  if (find(name) == nullptr) trouble_->report("this field is missing", path(name));
  std::string value = text(name);
  if (value.empty()) trouble_->report("this field is empty", path(name));
  return value;
}

std::optional<bool> Fields::flag(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  wrong(name, "true or false");
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number() && std::isfinite(value->get<double>())) return value->get<double>();
  wrong(name, "a number");
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name) const {
  const auto value = number(name);
  if (!value) return std::nullopt;
  if (std::abs(*value) <= kWholeMax && std::floor(*value) == *value) {
    return static_cast<std::int64_t>(*value);
  }
  wrong(name, "a whole number");
  return std::nullopt;
}

std::optional<std::int64_t> Fields::count(std::string_view name) const {
  const auto value = integer(name);
  if (!value || *value >= 0) return value;
  wrong(name, "a number that is not negative");
  return std::nullopt;
}

const Json* Fields::array(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr || value->is_array()) return value;
  wrong(name, "an array");
  return nullptr;
}

const Json* Fields::object(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr || value->is_object()) return value;
  wrong(name, "an object");
  return nullptr;
}

void Fields::wrong(std::string_view name, std::string_view expected) const {
  trouble_->report(fmt::format("{} is expected here", expected), path(name));
}

}  // namespace samovar::replay
