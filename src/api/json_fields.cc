#include "api/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_outline.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// Messages quote what the client sent, which may be megabytes.
constexpr std::size_t kQuotedBytesMax = 400;

std::string shortened(std::string text) {
  if (text.size() <= kQuotedBytesMax) return text;
  std::size_t end = kQuotedBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

std::string with_article(std::string_view noun) {
  const bool vowel = std::string_view("aeio").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

bool fits_int64(const Json& number) {
  if (number.is_number_float()) return std::abs(number.get<double>()) < 9.2e18;
  return !number.is_number_unsigned() ||
         number.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}

std::string number_text(double value) { return fmt::format("{:g}", value); }

}  // namespace

void Problem::report(std::string message, std::string field, std::string remedy) {
  if (error_.has_value()) return;
  error_ = Error{ErrorKind::invalid_argument, shortened(std::move(message)),
                 shortened(std::move(field)), std::move(remedy)};
}

Status parse_json_body(std::string_view body, Json& value) {
  if (body.size() > limits::body_bytes_max) {
    return fail(ErrorKind::too_large,
                fmt::format("the body has {} bytes, more than the {} allowed", body.size(),
                            limits::body_bytes_max),
                {}, "send a shorter conversation");
  }
  if (auto outline = outline_json(body); !outline) return std::unexpected(outline.error());
  try {
    value = Json::parse(body);
  } catch (const Json::parse_error& error) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the body is not valid JSON: there is an error at byte {}", error.byte),
                {}, "send one JSON object, encoded as UTF-8");
  } catch (const Json::exception&) {
    return fail(ErrorKind::invalid_argument, "the body has a number that cannot be represented", {},
                "send numbers within the range of a double");
  }
  if (!value.is_object()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the body must be a JSON object, not {}", json_type_name(value)), {},
                R"(send {"messages": [...]})");
  }
  return {};
}

std::string json_type_name(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_number_integer()) return "an integer";
  if (value.is_number()) return "a number";
  return with_article(value.type_name());
}

JsonObject::JsonObject(const Json& value, std::string path, Problem& problem)
    : value_(&value), path_(std::move(path)), problem_(&problem) {
  if (value.is_object()) return;
  problem.report(fmt::format("'{}' must be an object, not {}", path_, json_type_name(value)),
                 path_);
}

std::string JsonObject::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

const Json* JsonObject::find(std::string_view name) const {
  if (!value_->is_object()) return nullptr;
  const auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return nullptr;
  return &*found;
}

void JsonObject::wrong_type(std::string_view name, std::string_view expected,
                            const Json& found) const {
  problem_->report(
      fmt::format("'{}' must be {}, not {}", path(name), expected, json_type_name(found)),
      path(name));
}

std::optional<std::string> JsonObject::string(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get_ref<const std::string&>();
  wrong_type(name, "a string", *value);
  return std::nullopt;
}

std::string JsonObject::required_string(std::string_view name) const {
  if (find(name) == nullptr) {
    problem_->report(fmt::format("'{}' is missing", path(name)), path(name), "give it as a string");
  }
  return string(name).value_or("");
}

std::optional<bool> JsonObject::boolean(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  wrong_type(name, "true or false", *value);
  return std::nullopt;
}

std::optional<double> JsonObject::number(std::string_view name, double min, double max) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    wrong_type(name, "a number", *value);
    return std::nullopt;
  }
  const auto number = value->get<double>();
  if (number >= min && number <= max) return number;
  problem_->report(fmt::format("'{}' is {}, outside {} to {}", path(name), value->dump(),
                               number_text(min), number_text(max)),
                   path(name),
                   fmt::format("choose a value from {} to {}", number_text(min), number_text(max)));
  return std::nullopt;
}

std::optional<std::int64_t> JsonObject::integer(std::string_view name, std::int64_t min,
                                                std::int64_t max) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  // Some clients write every number as a double: 16.0 is an integer, 16.5 is not.
  const bool whole =
      value->is_number_float() && std::trunc(value->get<double>()) == value->get<double>();
  if (!value->is_number_integer() && !whole) {
    wrong_type(name, "an integer", *value);
    return std::nullopt;
  }
  if (fits_int64(*value)) {
    const auto integer = value->get<std::int64_t>();
    if (integer >= min && integer <= max) return integer;
  }
  problem_->report(fmt::format("'{}' is {}, outside {} to {}", path(name), value->dump(), min, max),
                   path(name), fmt::format("choose a value from {} to {}", min, max));
  return std::nullopt;
}

std::optional<JsonObject> JsonObject::object(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return JsonObject(*value, path(name), *problem_);
  wrong_type(name, "an object", *value);
  return std::nullopt;
}

const Json* JsonObject::array(std::string_view name, std::size_t max) const {
  const Json* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    wrong_type(name, "an array", *value);
    return nullptr;
  }
  if (value->size() <= max) return value;
  problem_->report(
      fmt::format("'{}' has {} elements, more than the {} allowed", path(name), value->size(), max),
      path(name), fmt::format("send at most {}", max));
  return nullptr;
}

}  // namespace samovar
