// The page at `/`: static files that were put into the program when it was built, from web/dist
// (cmake/embed.cmake). They hold no data and are served without a key. Immutable; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_types.h"

namespace samovar {

struct PageFile {
  std::string_view path;  // "/" or "/assets/NAME"
  std::string_view bytes;
  std::string_view sha256;  // of the bytes, in hex
};

// Generated.
[[nodiscard]] std::span<const PageFile> page_files();

// The paths that need no key: these very ones, nothing below or beside them.
[[nodiscard]] std::vector<std::string> page_paths();

// nullopt: it is none of the page's. 304 if the client has it.
[[nodiscard]] std::optional<HttpResponse> page_response(const HttpRequest& request);

}  // namespace samovar
