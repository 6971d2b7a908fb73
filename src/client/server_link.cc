#include "client/server_link.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

namespace samovar::client {
namespace {

using Json = nlohmann::json;

constexpr Micros kQuestionTimeout = 10 * kSecond;

// An id as part of a path: whatever a server calls its turns.
std::string path_part(const std::string& id) {
  std::string out;
  for (const char c : id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

HttpCall ServerLink::completion(const History& history, const RequestSettings& settings) const {
  return {.url = url_ + "/v1/chat/completions",
          .body = request_body(history, settings, left_out),
          .key = key_};
}

Result<std::vector<std::string>> ServerLink::models() {
  std::vector<std::string> ids;
  const auto body = get("/v1/models");
  if (!body) {
    if (body.error().kind == ErrorKind::not_found) return ids;
    return std::unexpected(body.error());
  }
  const Json json = Json::parse(*body, nullptr, false);
  if (!json.is_object() || !json.contains("data") || !json["data"].is_array()) return ids;
  for (const Json& model : json["data"]) {
    if (!model.is_object()) continue;
    const auto id = model.find("id");
    if (id != model.end() && id->is_string()) ids.push_back(id->get<std::string>());
  }
  return ids;
}

Result<std::string> ServerLink::explanation(const std::string& turn) {
  return get("/v1/samovar/turns/" + path_part(turn) + "/explain");
}

Result<std::string> ServerLink::get(const std::string& path) {
  transfer_.start(
      {.url = url_ + path, .body = std::nullopt, .key = key_, .timeout = kQuestionTimeout});
  std::string body = transfer_.take_body();
  const std::array<int, 1> watched = {signals_.descriptor()};
  while (transfer_.running()) {
    transfer_.wait(watched, kSecond);
    body += transfer_.take_body();
    while (const auto signal = signals_.next()) {
      if (*signal == SIGWINCH || *signal == SIGCONT) continue;
      transfer_.cancel();
      return fail(ErrorKind::cancelled, "stopped");
    }
  }
  body += transfer_.take_body();
  if (transfer_.failure()) return std::unexpected(*transfer_.failure());
  if (transfer_.status() < 200 || transfer_.status() >= 300) {
    return std::unexpected(
        refusal(transfer_.status(), body, url_, transfer_.header("retry-after")));
  }
  return body;
}

}  // namespace samovar::client
