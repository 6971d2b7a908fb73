#include "hub/fetch_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/size_text.h"
#include "hub/download.h"
#include "hub/hub_api.h"
#include "hub/hub_cache.h"
#include "hub/hub_errors.h"
#include "hub/partial_note.h"

namespace samovar::hub {
namespace {

// While a copy is at hand nobody wants to wait for a hub that does not answer.
constexpr int kTriesWithCopy = 2;
constexpr int kTriesToList = 4;  // nothing is lost yet, and a wrong address should be told soon

std::string last_segment(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Fetch {
 public:
  Fetch(const ModelWish& wish, const HubSettings& settings, const HubTools& tools)
      : wish_(wish), settings_(settings), tools_(tools), layout_(settings.cache, wish.ref.repo) {}

  Result<std::string> run() {
    const auto cached = from_cache();
    if (settings_.offline) {
      if (!cached) return std::unexpected(cached.error());
      return *cached;
    }
    if (auto status = check_endpoint(settings_); !status) return std::unexpected(status.error());
    auto path = from_hub(std::min(cached ? kTriesWithCopy : kTriesToList, settings_.tries));
    if (path || !cached) return path;
    if (path.error().kind == ErrorKind::unavailable) {
      tools_.say(fmt::format("{}: using the copy in the cache", path.error().message));
      return *cached;
    }
    if (path.error().kind != ErrorKind::cancelled) {
      path.error().remedy += "; a copy is in the cache: --offline uses it";
    }
    return path;
  }

 private:
  Result<std::string> from_cache() const {
    const CachedRepo cached = scan_repo(tools_.fs, layout_);
    std::optional<Error> first_error;
    for (const CachedSnapshot& snapshot : cached.snapshots) {
      const auto chosen = choose_files(files_of(snapshot), wish_.ref, wish_.file,
                                       fmt::format("the cache of {} has", wish_.ref.repo));
      if (chosen) return layout_.file(snapshot.commit, chosen->front().path);
      if (!first_error) first_error = chosen.error();
    }
    if (!first_error) {
      first_error = Error{ErrorKind::not_found, fmt::format("nothing of {} is in the cache ({})",
                                                            wish_.ref.repo, settings_.cache)};
    }
    first_error->remedy += first_error->remedy.empty() ? "Without" : "; without";
    first_error->remedy += " --offline it is downloaded";
    return std::unexpected(*first_error);
  }

  Result<std::string> from_hub(int tries) {
    const auto listing = HubApi(settings_, tools_).list(wish_.ref.repo, tries);
    if (!listing) return std::unexpected(listing.error());
    const auto files = choose_files(listing->files, wish_.ref, wish_.file, wish_.ref.repo + " has");
    if (!files) return std::unexpected(files.error());
    if (auto status = download(listing->commit, *files); !status) {
      return std::unexpected(status.error());
    }
    if (auto status = publish(listing->commit); !status) {
      return std::unexpected(status.error());
    }
    return layout_.file(listing->commit, files->front().path);
  }

  // What is there of a file, whole or not.
  std::uint64_t bytes_there(const std::string& commit, const RepoFile& file) const {
    if (is_in_cache(tools_.fs, layout_, commit, file)) return file.bytes;
    for (const std::string& path : {layout_.blob(file.blob), layout_.incomplete(file.blob)}) {
      if (const auto found = tools_.fs.stat(path)) return std::min(found->bytes, file.bytes);
    }
    return 0;
  }

  Status check_space(const std::string& commit, const std::vector<RepoFile>& files) const {
    std::uint64_t needed = 0;
    for (const RepoFile& file : files) needed += file.bytes - bytes_there(commit, file);
    if (needed == 0) return {};
    if (auto made = tools_.fs.make_shared_directory(layout_.blobs()); !made) {
      return std::unexpected(disk_error(made.error()));
    }
    const auto space = tools_.fs.space(layout_.blobs());
    if (!space || space->free >= needed) return {};
    return fail(ErrorKind::internal,
                fmt::format("{} are to be downloaded, but only {} are free in {}",
                            format_bytes(needed), format_bytes(space->free), settings_.cache),
                "",
                "Make room (`samovar models rm`), choose a smaller quantisation, or another "
                "disk with HF_HUB_CACHE");
  }

  Status download(const std::string& commit, const std::vector<RepoFile>& files) {
    if (auto status = check_space(commit, files); !status) return status;
    std::uint64_t total = 0;
    for (const RepoFile& file : files) total += file.bytes;
    std::uint64_t before = 0;
    for (const RepoFile& file : files) {
      const auto grown = [&](std::uint64_t bytes) {
        tools_.progress({last_segment(file.path), before + bytes, total});
      };
      if (auto status = Download(settings_, tools_, layout_, commit, file, grown).run(); !status) {
        return status;
      }
      if (auto linked = link(commit, file); !linked) {
        return std::unexpected(disk_error(linked.error()));
      }
      before += file.bytes;
      tools_.progress({last_segment(file.path), before, total});
    }
    return {};
  }

  // The reference comes last: until then, the snapshot before stays the current one.
  Status publish(const std::string& commit) {
    if (read_text(tools_.fs, layout_.main_ref()) == commit) return {};
    for (const std::string& folder : {layout_.refs(), layout_.locks()}) {
      if (auto made = tools_.fs.make_shared_directory(folder); !made) {
        return std::unexpected(disk_error(made.error()));
      }
    }
    static std::atomic<int> count = 0;
    const std::string unique = fmt::format("{}-{}", ::getpid(), ++count);
    if (auto status = write_text(tools_.fs, layout_.main_ref(), layout_.new_ref(unique), commit);
        !status) {
      return std::unexpected(disk_error(status.error()));
    }
    return {};
  }

  FsStatus link(const std::string& commit, const RepoFile& file) {
    const std::string path = layout_.file(commit, file.path);
    const std::string target = link_target(file.path, file.blob);
    if (const auto there = tools_.fs.read_link(path)) {
      if (*there == target) return {};
      if (auto gone = tools_.fs.remove(path); !gone) return gone;
    }
    if (content_in_snapshot(tools_.fs, layout_, commit, file)) return {};
    const std::string folder = path.substr(0, path.rfind('/'));
    if (auto made = tools_.fs.make_shared_directory(folder); !made) return made;
    auto linked = tools_.fs.link(target, path);
    if (linked || linked.error().fault == FsFault::exists) return {};
    if (linked.error().fault == FsFault::full || linked.error().fault == FsFault::read_only) {
      return linked;
    }
    // A file system without symbolic links: the content itself goes there, as the layout allows.
    // Another process may have been the one to move it.
    const auto moved = tools_.fs.rename(layout_.blob(file.blob), path);
    if (moved || content_in_snapshot(tools_.fs, layout_, commit, file)) return {};
    return linked;
  }

  const ModelWish& wish_;
  const HubSettings& settings_;
  const HubTools& tools_;
  const CacheLayout layout_;
};

}  // namespace

Result<std::string> fetch_model(const ModelWish& wish, const HubSettings& settings,
                                const HubTools& tools) {
  return Fetch(wish, settings, tools).run();
}

}  // namespace samovar::hub
