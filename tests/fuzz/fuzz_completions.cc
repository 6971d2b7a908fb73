// Fuzz target: the parser of POST /v1/completions. An input is a body, any bytes. It must be
// refused with words, or have a prompt that can be submitted.
#include <string_view>
#include <variant>

#include "api/completions_request.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/told.h"

namespace samovar::fuzz_completions {

void run(Bytes input) {
  using fuzz::require;
  constexpr int kVocabulary = 1000;
  const std::string_view body(reinterpret_cast<const char*>(input.data()), input.size());
  ChatDefaults defaults;
  defaults.vocab_size = kVocabulary;
  const auto request = parse_completion_request(body, defaults);
  if (!request) return require(!request.error().message.empty());
  if (const auto* tokens = std::get_if<Tokens>(&request->prompt)) {
    require(!tokens->empty());
    for (const Token token : *tokens) require(token >= 0 && token < kVocabulary);
  }
  require(!(request->echo && request->sampling.top_logprobs));
}

}  // namespace samovar::fuzz_completions

SAMOVAR_FUZZ_TARGET(fuzz_completions)
