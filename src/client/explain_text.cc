#include "client/explain_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/figures_text.h"
#include "client/text.h"

namespace samovar::client {
namespace {

using Json = nlohmann::json;

constexpr int kTextShown = 400;  // columns of an old or a new text

// As people read it; empty if it is not there.
std::string shown(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return {};
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return grouped(found->get<std::int64_t>());
  return found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add(std::string& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out += fmt::format("  {:<8}{}\n", name, value);
}

std::string cost(const Json& json) {
  std::string text;
  const std::string tokens = shown(json, "tokens_lost");
  if (!tokens.empty() && tokens != "0") text = tokens + " tokens computed again";
  const auto seconds = json.find("seconds_lost");
  if (!text.empty() && seconds != json.end() && seconds->is_number()) {
    text += ", " + short_time(seconds->get<double>());
  }
  const auto estimated = json.find("estimated");
  if (!text.empty() && estimated != json.end() && *estimated == true) text += " (estimated)";
  return text;
}

std::string place(const Json& first) {
  std::string text;
  const auto part = [&](std::string_view before, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : ", ") + std::string(before) + value;
  };
  part("message ", shown(first, "message"));
  if (const std::string role = shown(first, "role"); !role.empty()) text += " (" + role + ")";
  part("", shown(first, "field"));
  part("tool ", shown(first, "tool"));
  part("token ", shown(first, "token"));
  part("byte ", shown(first, "byte"));
  return text;
}

}  // namespace

std::string explanation_text(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || !json.contains("title")) return {};
  std::string out = shown(json, "title");
  const std::string name = shown(json, "class");
  if (!name.empty() && name != "none") out += " [" + name + "]";
  out += '\n';
  add(out, "", shown(json, "detail"));
  const auto first = json.find("first_difference");
  if (first != json.end() && first->is_object()) {
    add(out, "where", place(*first));
    const std::string before = shown(*first, "old");
    const std::string after = shown(*first, "new");
    if (!before.empty() || !after.empty()) {
      add(out, "before", "\"" + one_line(before, kTextShown) + "\"");
      add(out, "then", "\"" + one_line(after, kTextShown) + "\"");
    }
  }
  add(out, "cost", cost(json));
  add(out, "remedy", shown(json, "remedy"));
  add(out, "reply",
      shown(json, "kept_reply").empty()
          ? ""
          : "kept by the server as turn " + shown(json, "kept_reply"));
  return out;
}

}  // namespace samovar::client
