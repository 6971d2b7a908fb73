// Reading the JSON of a trace field by field: a value, or nothing where the field is absent or
// null, or a Trouble that names the field's path. The first trouble is kept; a reader reads
// straight through and looks once at the end. Views into the parsed line. One thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace samovar::replay {

class Trouble {
 public:
  void report(std::string message, std::string field);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

constexpr int kJsonDepthMax = 64;  // levels of a line

// Whether JSON has more levels than this. What walks through a value calls itself at each level,
// so text of unknown origin is asked before it is parsed.
[[nodiscard]] bool is_deeper(std::string_view text, int levels);

// A JSON object of at most kJsonDepthMax levels. Error: what is wrong with the text.
[[nodiscard]] Result<nlohmann::ordered_json> parse_object(std::string_view text);

class Fields {
 public:
  // `path` is empty for the line itself.
  Fields(const nlohmann::ordered_json& json, std::string path, Trouble& trouble);

  [[nodiscard]] std::string path(std::string_view name) const;
  [[nodiscard]] Trouble& trouble() const { return *trouble_; }

  // nullptr: absent or null.
  [[nodiscard]] const nlohmann::ordered_json* find(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;  // empty: absent
  [[nodiscard]] std::string required_text(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view name) const;  // not negative
  // nullptr: absent, null, or another type, which is a trouble.
  [[nodiscard]] const nlohmann::ordered_json* array(std::string_view name) const;
  [[nodiscard]] const nlohmann::ordered_json* object(std::string_view name) const;

 private:
  void wrong(std::string_view name, std::string_view expected) const;

  const nlohmann::ordered_json* json_;
  std::string path_;
  Trouble* trouble_;
};

}  // namespace samovar::replay
