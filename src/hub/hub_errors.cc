#include "hub/hub_errors.h"

#include <fmt/format.h>

namespace samovar::hub {
namespace {

constexpr const char* kToken = "set HF_TOKEN to a token that may read it";

}  // namespace

Error error_of(const net::GetError& error) {
  switch (error.fault) {
    case net::GetFault::bad_address:
      return {ErrorKind::invalid_argument, error.message, "HF_ENDPOINT",
              "Write it like https://huggingface.co"};
    case net::GetFault::unsafe:
      return {ErrorKind::internal, error.message, "",
              "Check the certificates of this machine, its clock, and HF_ENDPOINT"};
    case net::GetFault::stopped:
      return cancelled_error("");
    case net::GetFault::unreachable:
      return {ErrorKind::unavailable, error.message, "",
              "Check the network and HF_ENDPOINT; --offline uses only what is in the cache"};
    case net::GetFault::broken:
      break;
  }
  return {ErrorKind::unavailable, error.message, "", "The same command goes on where it stopped"};
}

bool is_passing(int status) { return status == 408 || status == 429 || status >= 500; }

Error refusal(const net::HttpHead& head, const std::string& repo, const HubSettings& settings) {
  const int status = head.status();
  const std::string page = fmt::format("{}/{}", settings.endpoint, repo);
  const std::string why = head.header("x-error-code");
  if (status == 429) {
    return {
        ErrorKind::unavailable, fmt::format("{} allows no more requests now", settings.endpoint),
        "",
        settings.token.empty() ? "Wait a while; with HF_TOKEN more are allowed" : "Wait a while"};
  }
  if (is_passing(status)) {
    return {ErrorKind::unavailable, fmt::format("{} answers {}", settings.endpoint, status), "",
            "Try again later"};
  }
  if ((status == 401 || status == 403) && why == "GatedRepo") {
    return {ErrorKind::unauthorized, repo + " is gated: its owner wants its terms accepted", "",
            fmt::format("Accept them at {}, then {}", page, kToken)};
  }
  if (status == 401 && !settings.token.empty()) {
    return {ErrorKind::unauthorized,
            fmt::format("{} is gated or private, or does not exist, and the token is not accepted",
                        repo),
            "HF_TOKEN", fmt::format("Check the name and {}", kToken)};
  }
  if (status == 401 || status == 403) {
    return {ErrorKind::unauthorized, fmt::format("{} is gated or private, or does not exist", repo),
            "", fmt::format("Check the name; if it is right, {}", kToken)};
  }
  if (status == 404) {
    return {ErrorKind::not_found, fmt::format("{} has no {}", settings.endpoint, repo), "",
            "Check the name: OWNER/NAME"};
  }
  return {ErrorKind::internal, fmt::format("{} answers {} for {}", settings.endpoint, status, repo),
          "", "Check HF_ENDPOINT"};
}

Error disk_error(const FsError& error) {
  const char* remedy = "Check the folder, or choose another one with HF_HUB_CACHE";
  if (error.fault == FsFault::full) {
    remedy =
        "The disk is full: make room (`samovar models rm`), or choose another disk with "
        "HF_HUB_CACHE; then the same command goes on where it stopped";
  } else if (error.fault == FsFault::denied || error.fault == FsFault::read_only) {
    remedy = "The folder cannot be written: choose another one with HF_HUB_CACHE";
  }
  return {ErrorKind::internal, error.message, "", remedy};
}

Error cancelled_error(const std::string& where) {
  return {ErrorKind::cancelled, "stopped" + where, "", "The same command goes on from there"};
}

}  // namespace samovar::hub
