#include "api/turn_headers.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace samovar {
namespace {

constexpr std::size_t kValueMax = 256;

// Names of tools and rules come from outside: nothing but printable ASCII reaches a header.
std::string safe(std::string_view text) {
  std::string value;
  for (const char byte : text.substr(0, kValueMax)) {
    value += byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\' ? byte : '?';
  }
  return value;
}

std::string miss_value(const Explanation& miss) {
  std::string value = to_string(miss.cause);
  if (miss.tokens_lost > 0) value += fmt::format("; tokens={}", miss.tokens_lost);
  if (miss.seconds_lost) value += fmt::format("; seconds={:.3f}", *miss.seconds_lost);
  if (miss.first) value += fmt::format("; where=\"{}\"", safe(place_text(*miss.first)));
  if (!miss.kept_reply.empty()) value += fmt::format("; kept-reply={}", safe(miss.kept_reply));
  return value;
}

}  // namespace

void add_turn_headers(const TurnReport& report, const std::optional<TurnStarted>& started,
                      Headers& headers) {
  headers.emplace_back("x-samovar-turn", safe(report.id));
  headers.emplace_back("x-samovar-session", safe(report.session));
  if (started) {
    headers.emplace_back("x-samovar-prompt-tokens", std::to_string(started->prompt_tokens));
    headers.emplace_back("x-samovar-reused-tokens", std::to_string(started->reused_tokens));
    headers.emplace_back("x-samovar-source", to_string(started->source));
  }
  if (report.miss) headers.emplace_back("x-samovar-miss", miss_value(*report.miss));
  if (!report.neutralised.empty()) {
    headers.emplace_back("x-samovar-neutralised", safe(report.neutralised));
  }
  if (!report.tool_order.empty()) {
    headers.emplace_back("x-samovar-tool-order", safe(report.tool_order));
  }
  if (report.replayed > 0) {
    headers.emplace_back("x-samovar-replayed", std::to_string(report.replayed));
  }
}

}  // namespace samovar
