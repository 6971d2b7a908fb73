// What a Redactor makes of JSON: of a call's arguments, and of the schema of a tool.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "replay/chat_json.h"
#include "replay/redactor.h"
#include "replay/trace_fields.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 7> kTypes = {"string", "number", "integer", "boolean",
                                                    "object", "array",  "null"};
// By what stands under them.
constexpr std::array<std::string_view, 3> kNamed = {"properties", "$defs", "definitions"};
constexpr std::array<std::string_view, 10> kSchemas = {
    "items", "additionalProperties", "anyOf", "oneOf", "allOf",
    "not",   "prefixItems",          "if",    "then",  "else"};
constexpr std::array<std::string_view, 3> kTexts = {"description", "title", "$comment"};
constexpr std::array<std::string_view, 4> kValues = {"enum", "const", "default", "examples"};
constexpr std::array<std::string_view, 11> kBounds = {
    "minimum",   "maximum",  "exclusiveMinimum", "exclusiveMaximum", "multipleOf",   "minLength",
    "maxLength", "minItems", "maxItems",         "minProperties",    "maxProperties"};

// So that a number of as many digits, ten times this at most, is one of 64 bits.
constexpr std::int64_t kLowMax = 10'000'000'000'000'000;

template <std::size_t Count>
bool holds(const std::array<std::string_view, Count>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class JsonRedactor {
 public:
  explicit JsonRedactor(const Redactor& redactor) : redactor_(redactor) {}

  [[nodiscard]] Json value(const Json& json) const {
    if (json.is_string()) return redactor_.text(json.get_ref<const std::string&>());
    if (json.is_number()) return number(json);
    if (json.is_array()) {
      Json out = Json::array();
      for (const Json& each : json) out.push_back(value(each));
      return out;
    }
    if (!json.is_object()) return json;
    Json out = Json::object();
    for (const auto& [key, each] : json.items()) out[redactor_.name(key)] = value(each);
    return out;
  }

  [[nodiscard]] Json schema(const Json& json) const {
    if (json.is_array()) {
      Json out = Json::array();
      for (const Json& each : json) out.push_back(schema(each));
      return out;
    }
    if (!json.is_object()) return json.is_boolean() ? json : Json(true);
    Json out = Json::object();
    for (const auto& [key, each] : json.items()) put(key, each, out);
    return out;
  }

 private:
  // As many digits.
  [[nodiscard]] Json number(const Json& json) const {
    const std::string text = json.dump();
    const auto numbers = redactor_.numbers(text, 1);
    if (!json.is_number_integer()) return static_cast<double>(numbers.front() % 10'000) / 10.0;
    std::size_t digits = text.size() - (text.starts_with('-') ? 1 : 0);
    std::int64_t low = digits == 1 ? 0 : 1;
    for (; digits > 1; --digits) low = low > kLowMax ? low : low * 10;
    const std::int64_t range = low == 0 ? 10 : low * 9;
    const auto value =
        low + static_cast<std::int64_t>(numbers.front() % static_cast<std::uint64_t>(range));
    return text.starts_with('-') ? -value : value;
  }

  void put(const std::string& key, const Json& json, Json& out) const {
    if (holds(kNamed, key)) {
      Json& named = out[key] = Json::object();
      if (!json.is_object()) return;
      for (const auto& [name, each] : json.items()) named[redactor_.name(name)] = schema(each);
    } else if (holds(kSchemas, key)) {
      out[key] = schema(json);
    } else if (holds(kTexts, key) || holds(kValues, key)) {
      out[key] = value(json);
    } else if (key == "type") {
      put_types(json, out);
    } else if (key == "required" && json.is_array()) {
      Json& names = out[key] = Json::array();
      for (const Json& each : json) {
        if (each.is_string()) names.push_back(redactor_.name(each.get<std::string>()));
      }
    } else if (key == "$ref" && json.is_string()) {
      out[key] = reference(json.get<std::string>());
    } else if (holds(kBounds, key) && json.is_number()) {
      out[key] = json;
    }
    // Anything else, patterns and formats above all, is text in disguise.
  }

  void put_types(const Json& json, Json& out) const {
    const auto known = [](const Json& type) {
      return type.is_string() && holds(kTypes, type.get_ref<const std::string&>());
    };
    if (known(json) || (json.is_array() && std::all_of(json.begin(), json.end(), known)))
      out["type"] = json;
  }

  // "#/$defs/Name"
  [[nodiscard]] std::string reference(std::string_view path) const {
    std::string out = "#";
    for (std::size_t at = path.find('/'); at != std::string_view::npos;) {
      const std::size_t end = path.find('/', at + 1);
      const std::string_view part = path.substr(at + 1, end - at - 1);
      const bool structural = holds(kNamed, part) || holds(kSchemas, part);
      out += "/" + (structural ? std::string(part) : redactor_.name(part));
      at = end;
    }
    return out;
  }

  const Redactor& redactor_;
};

}  // namespace

std::string Redactor::arguments(const std::string& json) const {
  const auto parsed = parse_object(json);
  return parsed ? json_line(JsonRedactor(*this).value(*parsed)) : text(json);
}

std::string Redactor::schema(const std::string& json) const {
  if (json.empty()) return {};
  const auto parsed = parse_object(json);
  return parsed ? json_line(JsonRedactor(*this).schema(*parsed)) : "{}";
}

}  // namespace samovar::replay
