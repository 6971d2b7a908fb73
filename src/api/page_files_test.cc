// Goal: the page is in the program as it is in web/dist, byte for byte, and a browser may keep it
// but must ask. Method: what is embedded against the files.
#include "api/page_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace samovar {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

HttpRequest get(const std::string& path, Headers headers = {}) {
  HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.headers = std::move(headers);
  return request;
}

std::string header(const HttpResponse& response, std::string_view name) {
  const std::string* value = find_header(response.headers, name);
  return value == nullptr ? "" : *value;
}

TEST(PageFiles, EveryFileOfTheBuildIsServedAsItIs) {
  const std::filesystem::path folder = std::filesystem::path(SAMOVAR_SOURCE) / "web" / "dist";
  std::size_t files = 1;
  EXPECT_EQ(page_response(get("/"))->body, bytes_of(folder / "index.html"));
  if (std::filesystem::exists(folder / "assets")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "assets")) {
      const auto response = page_response(get("/assets/" + entry.path().filename().string()));
      ASSERT_TRUE(response) << entry.path();
      EXPECT_EQ(response->body, bytes_of(entry.path()));
      EXPECT_NE(response->content_type, "application/octet-stream") << entry.path();
      ++files;
    }
  }
  EXPECT_EQ(page_paths().size(), files);
}

TEST(PageFiles, ABrowserMayLoadNothingElse) {
  const auto response = page_response(get("/"));
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(header(*response, "Content-Security-Policy").starts_with("default-src 'none'"));
  EXPECT_EQ(header(*response, "Content-Security-Policy").find("unsafe"), std::string::npos);
  EXPECT_EQ(header(*response, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header(*response, "Cache-Control"), "no-cache");
}

TEST(PageFiles, WhoHasItIsToldSo) {
  const std::string tag = header(*page_response(get("/")), "ETag");
  ASSERT_EQ(tag.size(), 34U);
  for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
    const auto response = page_response(get("/", {{"if-none-match", known}}));
    EXPECT_EQ(response->status, 304) << known;
    EXPECT_TRUE(response->body.empty());
    EXPECT_EQ(header(*response, "ETag"), tag);
  }
  EXPECT_EQ(page_response(get("/", {{"If-None-Match", "\"other\""}}))->status, 200);
}

TEST(PageFiles, NothingElseIsAFile) {
  for (const char* path : {"", "//", "/index.html", "/assets", "/assets/", "/assets/../index.html",
                           "/assets/none.js", "/web/dist/index.html", "/v1/samovar/state"}) {
    EXPECT_FALSE(page_response(get(path))) << path;
  }
  HttpRequest post = get("/");
  post.method = "POST";
  EXPECT_FALSE(page_response(post));
}

}  // namespace
}  // namespace samovar
