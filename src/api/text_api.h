// What works on plain text and tokens, outside of conversations:
//
//   POST /v1/completions     text that goes on, prompt as text or tokens
//   POST /tokenize           {"content": text} -> {"tokens": [...]}; {"messages": ...}: of a chat
//   POST /detokenize         {"tokens": [...]} -> {"content": text}
//   POST /apply-template     a chat request -> {"prompt": text}: what the model would read
//
// One instance for the process, called by all HTTP threads at once. Errors in OpenAI's form.
#pragma once

#include <string>

#include "api/http_types.h"
#include "api/turn_runner.h"

namespace samovar {

class TextApi {
 public:
  // `runner` must outlive this object and every response made by it.
  TextApi(TurnRunner& runner, std::string model_id);

  [[nodiscard]] HttpResponse complete(const HttpRequest& request);
  [[nodiscard]] HttpResponse tokenize(const HttpRequest& request) const;
  [[nodiscard]] HttpResponse detokenize(const HttpRequest& request) const;
  [[nodiscard]] HttpResponse apply_template(const HttpRequest& request) const;

 private:
  TurnRunner& runner_;
  const std::string model_id_;
};

}  // namespace samovar
