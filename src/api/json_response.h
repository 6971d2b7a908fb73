// A response of status 200 whose body is JSON. Pure; any thread; nothing fails.
#pragma once

#include <string>
#include <utility>

#include "api/http_types.h"

namespace samovar {

[[nodiscard]] inline HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

}  // namespace samovar
