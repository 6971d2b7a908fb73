// GET /v1/models and /v1/models/{id}: the one model this server has, with the fields of OpenAI's
// and of Anthropic's clients. The second also has what llama-server tells under /props: the
// template, the defaults of sampling, what the server can do. Immutable, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/http_types.h"
#include "core/sampling.h"
#include "core/tokens.h"

namespace samovar {

struct ServedModel {
  std::string id;  // --alias, else the model's name
  std::string architecture;
  std::uint64_t parameters = 0;
  int vocab_size = 0;
  Position context = 0;          // tokens one conversation may have here
  Position trained_context = 0;  // tokens the model was trained for
  std::int64_t created = 0;      // when it was loaded, seconds since 1970
  std::string chat_template;     // jinja source
  int sequences = 0;             // conversations that can be resident
  SamplingParams sampling;       // what a request that says nothing gets
};

class Models {
 public:
  explicit Models(ServedModel model);

  [[nodiscard]] HttpResponse list() const;
  [[nodiscard]] HttpResponse get(std::string_view id) const;  // 404 for any other id
  [[nodiscard]] const ServedModel& model() const { return model_; }

 private:
  ServedModel model_;
};

}  // namespace samovar
