// Fuzz target: the parser of POST /v1/responses. An input is a body, any bytes. It must be refused
// with words, or become the same request whether or not its items were seen before.
#include <string>
#include <string_view>

#include "api/message_memo.h"
#include "api/responses_request.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_responses {
namespace {

using fuzz::require;

std::string told(const ResponsesRequest& request) {
  return request.settings + fuzz::told(request.chat);
}

}  // namespace

void run(Bytes input) {
  const std::string_view body(reinterpret_cast<const char*>(input.data()), input.size());
  const auto plain = parse_responses_request(body, {}, nullptr);
  MessageMemo memo;
  for (int i = 0; i < 2; ++i) {
    const auto again = parse_responses_request(body, {}, nullptr, &memo);
    require(again.has_value() == plain.has_value());
    if (plain) {
      require(told(*again) == told(*plain));
    } else {
      require(again.error().describe() == plain.error().describe());
      require(!plain.error().message.empty());
    }
  }
  if (!plain) return;
  require(!plain->chat.messages.empty());
  const auto settings = parse_response_settings(body, {});
  require(settings.has_value());
  require(!plain->left_out.empty() || settings->settings == plain->settings);
}

}  // namespace samovar::fuzz_responses

SAMOVAR_FUZZ_TARGET(fuzz_responses)
