#include "hub/hub_api.h"

#include <fmt/format.h>

#include <iterator>

#include "hub/backoff.h"
#include "hub/hub_errors.h"
#include "hub/hub_json.h"
#include "net/http_get.h"
#include "net/url.h"

namespace samovar::hub {
namespace {

constexpr std::size_t kBodyMax = std::size_t{32} << 20;
constexpr int kPagesMax = 100;  // of a thousand files each

// "<https://hub/next>; rel=\"next\"" of a Link header.
std::string next_in(std::string_view link) {
  const std::size_t rel = link.find("rel=\"next\"");
  if (rel == std::string_view::npos) return {};
  const std::size_t begin = link.rfind('<', rel);
  const std::size_t end = link.find('>', begin == std::string_view::npos ? rel : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos || end > rel) return {};
  return std::string(link.substr(begin + 1, end - begin - 1));
}

}  // namespace

std::string file_url(const HubSettings& settings, const std::string& repo,
                     const std::string& commit, const std::string& path) {
  return fmt::format("{}/{}/resolve/{}/{}", settings.endpoint, repo, commit,
                     net::escape_path(path));
}

Status check_endpoint(const HubSettings& settings) {
  const std::string origin = net::origin_of(settings.endpoint);
  if (origin.empty()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("\"{}\" is no address of a hub", settings.endpoint), "HF_ENDPOINT",
                "Write it like https://huggingface.co");
  }
  if (!settings.token.empty() && origin.starts_with("http:") && !net::is_local(origin)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the token would be sent to {} in the open", origin), "HF_ENDPOINT",
                "Use https, or unset HF_TOKEN");
  }
  return {};
}

Result<HubApi::Page> HubApi::get_once(const std::string& url, const std::string& repo,
                                      std::string& retry_after) const {
  Page page;
  bool too_long = false;
  net::GetHooks hooks;
  hooks.on_head = [](const net::HttpHead& head) { return head.status() == 200; };
  hooks.on_body = [&](Bytes bytes) {
    too_long = page.body.size() + bytes.size() > kBodyMax;
    if (!too_long) page.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return !too_long;
  };
  hooks.stop = [&] { return !tools_.pause(0); };
  const auto answer = net::http_get({.url = url,
                                     .bearer = settings_.token,
                                     .headers = {"Accept: application/json"},
                                     .stall = settings_.stall},
                                    hooks);
  if (too_long) {
    return fail(ErrorKind::internal, "the hub's answer is longer than 32 MiB", "",
                "Check HF_ENDPOINT");
  }
  if (!answer) return std::unexpected(error_of(answer.error()));
  if (answer->head.status() != 200) {
    retry_after = answer->head.header("retry-after");
    return std::unexpected(refusal(answer->head, repo, settings_));
  }
  const std::string next = next_in(answer->head.header("link"));
  if (net::origin_of(next) == net::origin_of(answer->url)) page.next = next;
  return page;
}

Result<HubApi::Page> HubApi::get(const std::string& url, const std::string& repo, int tries) const {
  Backoff backoff(tries);
  while (true) {
    std::string retry_after;
    auto page = get_once(url, repo, retry_after);
    if (page || page.error().kind != ErrorKind::unavailable) return page;
    const auto wait = backoff.next(retry_after);
    if (!wait) return page;
    tools_.say(fmt::format("{}: again in {} s", page.error().message, *wait / kSecond));
    if (!tools_.pause(*wait)) return std::unexpected(cancelled_error(""));
  }
}

Result<Listing> HubApi::list(const std::string& repo, int tries) const {
  const std::string api = fmt::format("{}/api/models/{}", settings_.endpoint, repo);
  const auto revision = get(api + "/revision/main", repo, tries);
  if (!revision) return std::unexpected(revision.error());
  auto commit = commit_in(revision->body);
  if (!commit) return std::unexpected(commit.error());
  Listing listing{std::move(*commit), {}};
  std::string next = fmt::format("{}/tree/{}?recursive=true", api, listing.commit);
  for (int pages = 0; !next.empty() && pages < kPagesMax; ++pages) {
    const auto page = get(next, repo, tries);
    if (!page) return std::unexpected(page.error());
    auto files = files_in(page->body);
    if (!files) return std::unexpected(files.error());
    std::ranges::move(*files, std::back_inserter(listing.files));
    next = page->next;
  }
  return listing;
}

}  // namespace samovar::hub
