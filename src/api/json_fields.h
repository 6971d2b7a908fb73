// Reading a JSON body field by field. Each read either gives the value, or nothing if the field is
// absent or null, or reports a Problem that names the field's path and the remedy. The first
// problem is kept and later ones are ignored, so a reader reads straight through and looks once at
// the end. Views into the parsed document, which must outlive them. One thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace samovar {

class Problem {
 public:
  void report(std::string message, std::string field, std::string remedy = {});
  [[nodiscard]] bool found() const { return error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

// Parses a request body, which must be an object. Depth and the number of members are bounded
// before the parser runs. Errors: invalid_argument, too_large.
[[nodiscard]] Status parse_json_body(std::string_view body, nlohmann::ordered_json& value);

// "a string", "an array", ... for messages.
[[nodiscard]] std::string json_type_name(const nlohmann::ordered_json& value);

class JsonObject {
 public:
  // `path` is empty for the body itself. A value that is no object is a problem, and every field is
  // then absent.
  JsonObject(const nlohmann::ordered_json& value, std::string path, Problem& problem);

  [[nodiscard]] std::string path(std::string_view name) const;  // "messages[2].role"
  [[nodiscard]] Problem& problem() const { return *problem_; }

  // nullptr if absent or null.
  [[nodiscard]] const nlohmann::ordered_json* find(std::string_view name) const;

  [[nodiscard]] std::optional<std::string> string(std::string_view name) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view name) const;
  [[nodiscard]] std::optional<double> number(std::string_view name, double min, double max) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::int64_t min,
                                                    std::int64_t max) const;
  [[nodiscard]] std::optional<JsonObject> object(std::string_view name) const;
  // nullptr if absent, null, not an array or longer than `max` (the last two are problems).
  [[nodiscard]] const nlohmann::ordered_json* array(std::string_view name, std::size_t max) const;

  // As string(), but absence is a problem.
  [[nodiscard]] std::string required_string(std::string_view name) const;

  [[nodiscard]] const nlohmann::ordered_json& json() const { return *value_; }

 private:
  void wrong_type(std::string_view name, std::string_view expected,
                  const nlohmann::ordered_json& found) const;

  const nlohmann::ordered_json* value_;
  std::string path_;
  Problem* problem_;
};

}  // namespace samovar
