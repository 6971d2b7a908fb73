// Fuzz target: the parser of POST /v1/messages. An input is a body, any bytes.
#include <string_view>

#include "api/messages_request.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_messages {

void run(Bytes input) {
  fuzz::require_same_from_memory(input, [](std::string_view body, MessageMemo* memo) {
    return parse_messages_request(body, {}, memo);
  });
}

}  // namespace samovar::fuzz_messages

SAMOVAR_FUZZ_TARGET(fuzz_messages)
