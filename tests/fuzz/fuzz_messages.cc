// Fuzz target: the parser of POST /v1/messages. An input is a body, any bytes. It must be
// refused with words, or become the same request whether or not its messages were seen before.
#include <string_view>

#include "api/message_memo.h"
#include "api/messages_request.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_messages {

void run(Bytes input) {
  using fuzz::require;
  using fuzz::told;
  const std::string_view body(reinterpret_cast<const char*>(input.data()), input.size());
  const auto plain = parse_messages_request(body, {});
  MessageMemo memo;
  for (int i = 0; i < 2; ++i) {
    const auto again = parse_messages_request(body, {}, &memo);
    require(again.has_value() == plain.has_value());
    if (plain) {
      require(told(again->chat) == told(plain->chat));
      require(again->stop == plain->stop && again->max_tokens == plain->max_tokens);
    } else {
      require(again.error().describe() == plain.error().describe());
      require(!plain.error().message.empty());
    }
  }
  require(!plain || !plain->chat.messages.empty());
}

}  // namespace samovar::fuzz_messages

SAMOVAR_FUZZ_TARGET(fuzz_messages)
