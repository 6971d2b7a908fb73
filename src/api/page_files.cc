#include "api/page_files.h"

#include <algorithm>
#include <array>
#include <utility>

namespace samovar {
namespace {

// Nothing from elsewhere, nothing inline, in no frame; data comes from this very server.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

std::string content_type(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {{
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".woff2", "font/woff2"},
      {".json", "application/json; charset=utf-8"},
  }};
  for (const auto& [end, type] : kTypes) {
    if (path.ends_with(end)) return std::string(type);
  }
  return path == "/" ? "text/html; charset=utf-8" : "application/octet-stream";
}

std::string tag_of(const PageFile& file) {
  return "\"" + std::string(file.sha256.substr(0, 32)) + "\"";
}

// Our tags have no comma in them, so finding one among others is looking for its text.
bool client_has(const HttpRequest& request, const std::string& tag) {
  const std::string* known = find_header(request.headers, "If-None-Match");
  return known != nullptr && (*known == "*" || known->find(tag) != std::string::npos);
}

}  // namespace

std::vector<std::string> page_paths() {
  std::vector<std::string> paths;
  for (const PageFile& file : page_files()) paths.emplace_back(file.path);
  return paths;
}

std::optional<HttpResponse> page_response(const HttpRequest& request) {
  const auto files = page_files();
  const auto file = std::ranges::find(files, std::string_view(request.path), &PageFile::path);
  if (file == files.end() || !reads(request)) return std::nullopt;
  HttpResponse response;
  const std::string tag = tag_of(*file);
  response.content_type = content_type(file->path);
  response.headers = {{"ETag", tag},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", kPolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"}};
  if (client_has(request, tag)) {
    response.status = 304;
  } else {
    response.body = file->bytes;
  }
  return response;
}

}  // namespace samovar
