// Fuzz target: the parser of POST /v1/chat/completions. An input is a body, any bytes.
#include <string_view>

#include "api/chat_request.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_chat {

void run(Bytes input) {
  fuzz::require_same_from_memory(input, [](std::string_view body, MessageMemo* memo) {
    return parse_chat_request(body, {}, memo);
  });
}

}  // namespace samovar::fuzz_chat

SAMOVAR_FUZZ_TARGET(fuzz_chat)
