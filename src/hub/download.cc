#include "hub/download.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <utility>

#include "base/size_text.h"
#include "hub/hub_api.h"
#include "hub/hub_errors.h"
#include "net/url.h"

namespace samovar::hub {
namespace {

constexpr Micros kLockPause = kSecond / 4;

// "bytes 100-199/200": {100, 200}; a total that is not said ("*") is 0.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t total = 0;
};
std::optional<ContentRange> parse_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  ContentRange range;
  const auto begin = std::from_chars(text.data(), text.data() + text.size(), range.begin);
  if (begin.ec != std::errc()) return std::nullopt;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::from_chars(text.data() + slash + 1, text.data() + text.size(), range.total);
  return range;
}

}  // namespace

// A blob of another length is no result of a finished download, whoever made it.
bool is_in_cache(CacheFs& fs, const CacheLayout& layout, const std::string& commit,
                 const RepoFile& file) {
  const auto found = fs.stat(layout.blob(file.blob));
  return (found && found->bytes == file.bytes) || content_in_snapshot(fs, layout, commit, file);
}

bool content_in_snapshot(CacheFs& fs, const CacheLayout& layout, const std::string& commit,
                         const RepoFile& file) {
  const std::string path = layout.file(commit, file.path);
  if (fs.read_link(path)) return false;
  const auto found = fs.stat(path);
  return found && found->bytes == file.bytes;
}

Status Download::run() {
  if (is_there()) return {};
  for (const std::string& folder : {layout_.blobs(), layout_.locks()}) {
    if (auto made = tools_.fs.make_shared_directory(folder); !made) {
      return std::unexpected(disk_error(made.error()));
    }
  }
  const auto lock = take_lock();
  if (!lock) return std::unexpected(lock.error());
  if (is_there()) return {};
  auto part = BlobPart::open(tools_.fs, layout_, file_, [this] { return !tools_.pause(0); });
  if (!part) return std::unexpected(part.error());
  grown_(part->bytes());
  if (auto status = transfer(*part); !status) return status;
  return part->publish();
}

Result<std::unique_ptr<FileLock>> Download::take_lock() const {
  const std::string owner = fmt::format("process {} (samovar)", ::getpid());
  for (bool said = false;;) {
    auto lock = tools_.fs.lock(layout_.lock(file_.blob), owner);
    if (lock) return std::move(*lock);
    if (lock.error().fault != FsFault::exists) return std::unexpected(disk_error(lock.error()));
    if (!said) {
      tools_.say(fmt::format("{} is being downloaded by another process: waiting for it ({})",
                             file_.path, lock.error().message));
    }
    said = true;
    if (!tools_.pause(kLockPause)) return std::unexpected(cancelled_error(""));
  }
}

std::string Download::how_far(const BlobPart& part) const {
  return fmt::format(" at {} of {}", format_bytes(part.bytes()), format_bytes(file_.bytes));
}

Status Download::transfer(BlobPart& part) {
  while (part.bytes() < file_.bytes || file_.bytes == 0) {
    const std::uint64_t before = part.bytes();
    Outcome outcome = request(part);
    if (outcome.complete) return {};
    if (outcome.error.kind == ErrorKind::cancelled) {
      return std::unexpected(cancelled_error(how_far(part)));
    }
    if (!outcome.passing) return std::unexpected(outcome.error);
    if (part.bytes() > before) backoff_.reset();
    const auto wait = backoff_.next(outcome.retry_after);
    if (!wait) return std::unexpected(outcome.error);
    tools_.say(
        fmt::format("{}{}: again in {} s", outcome.error.message, how_far(part), *wait / kSecond));
    if (!tools_.pause(*wait)) return std::unexpected(cancelled_error(how_far(part)));
  }
  return {};
}

Download::Outcome Download::request(BlobPart& part) {
  failed_.reset();
  restart_ = false;
  net::GetRequest request{.url = file_url(settings_, layout_.repo(), commit_, file_.path),
                          .bearer = settings_.token,
                          .stall = settings_.stall};
  if (part.bytes() > 0) {
    request.headers.push_back(fmt::format("Range: bytes={}-", part.bytes()));
    if (!part.etag().empty()) request.headers.push_back("If-Range: " + part.etag());
  }
  net::GetHooks hooks;
  hooks.on_head = [&](const net::HttpHead& head) { return begin(head, part); };
  hooks.on_body = [&](Bytes bytes) { return take(bytes, part); };
  hooks.stop = [&] { return !tools_.pause(0); };
  const auto answer = net::http_get(request, hooks);
  return judge(answer, part);
}

// The answer's head: does its body go on where we are?
bool Download::begin(const net::HttpHead& head, BlobPart& part) {
  const int status = head.status();
  if (status == 416) restart_ = true;
  if (status != 200 && status != 206) return false;
  const std::string etag = head.header("etag");
  if (status == 206) {
    const auto range = parse_range(head.header("content-range"));
    const bool same_file = part.etag().empty() || etag.empty() || etag == part.etag();
    restart_ = !range || range->begin != part.bytes() ||
               (range->total != 0 && range->total != file_.bytes) || !same_file;
    if (restart_) return false;
  } else if (part.bytes() > 0) {
    // It ignores ranges, or has another file than the one we hold the beginning of.
    tools_.say(fmt::format("{}: the server sends it from the beginning again", file_.path));
    if (auto status_of = part.start_over(); !status_of) {
      failed_ = status_of.error();
      return false;
    }
  }
  part.note_etag(etag);
  return true;
}

bool Download::take(Bytes bytes, BlobPart& part) {
  if (part.bytes() + bytes.size() > file_.bytes) {
    failed_ = Error{ErrorKind::internal,
                    fmt::format("more comes for {} than the {} that the hub lists", file_.path,
                                format_bytes(file_.bytes)),
                    "", "Run the same command again; if that repeats, check HF_ENDPOINT"};
    if (auto status = part.start_over(); !status) failed_ = status.error();
    return false;
  }
  if (auto status = part.add(bytes); !status) {
    failed_ = status.error();
    return false;
  }
  grown_(part.bytes());
  return true;
}

Download::Outcome Download::judge(const std::expected<net::GetAnswer, net::GetError>& answer,
                                  BlobPart& part) {
  if (failed_) return {.error = *failed_};
  if (!restart_ && file_.bytes > 0 && part.bytes() == file_.bytes) return {.complete = true};
  if (!answer) {
    Outcome outcome{.error = error_of(answer.error())};
    outcome.passing = outcome.error.kind == ErrorKind::unavailable;
    return outcome;
  }
  const net::HttpHead& head = answer->head;
  if (restart_) {
    if (auto status = part.start_over(); !status) return {.error = status.error()};
    return {.error = {ErrorKind::unavailable,
                      file_.path + " has changed on the server and is fetched anew"},
            .passing = true};
  }
  if (head.status() == 200 || head.status() == 206) {
    if (file_.bytes == 0) return {.complete = true};
    return {.error = error_of({net::GetFault::broken,
                               fmt::format("{} ended too early", net::origin_of(answer->url))}),
            .passing = true};
  }
  Outcome outcome{.error = refusal(head, layout_.repo(), settings_),
                  .retry_after = head.header("retry-after")};
  // A signed address of the hub's storage may have expired: the hub gives a new one.
  const bool elsewhere = net::origin_of(answer->url) != net::origin_of(settings_.endpoint);
  outcome.passing = is_passing(head.status()) || elsewhere;
  return outcome;
}

}  // namespace samovar::hub
