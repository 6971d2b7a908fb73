// The commands that leave the store as it is, and what brings sessions in and out.
#include "app/cache_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "app/serve.h"
#include "base/size_text.h"
#include "store/store_family.h"
#include "store/store_transfer.h"

namespace samovar::app {

namespace {

constexpr Micros kProgressAfter = 1 * kSecond;  // what is quicker needs none

}  // namespace

Result<CacheAnswer> CacheRun::run() {
  const std::string& command = request_.command;
  if (command == "ls") return list();
  if (command == "stats") return stats();
  if (command == "verify") return verify();
  if (command == "rebuild") return rebuild();
  if (command == "gc") return gc();
  if (command == "pin") return pin();
  if (command == "unpin") return unpin();
  if (command == "rm") return rm();
  if (command == "purge") return purge();
  if (command == "export") return export_file();
  return import_file();
}

Status CacheRun::open(StoreAccess access) {
  auto admin = StoreAdmin::open(
      tools_.fs, tools_.clock,
      {.folder = request_.folder,
       .access = access,
       .catalog = tools_.catalog,
       .owner = fmt::format("process {} (samovar cache {})", getpid(), request_.command)});
  if (!admin) return std::unexpected(admin.error());
  admin_ = std::move(*admin);
  return {};
}

Status CacheRun::open_and_look(StoreAccess access) {
  if (auto status = open(access); !status) return status;
  auto contents = admin_->look();
  if (!contents) return std::unexpected(contents.error());
  contents_ = std::move(*contents);
  return {};
}

CacheRun::Answer CacheRun::list() {
  if (auto status = open_and_look(StoreAccess::read); !status) {
    return std::unexpected(status.error());
  }
  if (!request_.model.empty()) {
    const auto models = find_models(contents_.records, request_.model);
    if (!models) return std::unexpected(models.error());
    std::erase_if(contents_.records, [&](const BlobRecord& record) {
      return std::ranges::find(*models, record.model) == models->end();
    });
  }
  return CacheAnswer{
      0, request_.entries ? print_entries(contents_, how_) : print_sessions(contents_, how_)};
}

CacheRun::Answer CacheRun::stats() {
  if (auto status = open_and_look(StoreAccess::read); !status) {
    return std::unexpected(status.error());
  }
  return CacheAnswer{0, print_stats(contents_, how_)};
}

CacheRun::Answer CacheRun::verify() {
  const auto access = request_.repair ? StoreAccess::change : StoreAccess::read;
  if (auto status = open(access); !status) return std::unexpected(status.error());
  const Micros began = tools_.clock.now();
  const auto progress = [&](const FileCount& done, const FileCount& all) {
    if (!tools_.progress || tools_.clock.now() - began < kProgressAfter) return;
    tools_.progress({fmt::format("{} files", all.files), done.bytes, all.bytes});
  };
  const auto report = admin_->verify(request_.quick, request_.repair, progress);
  if (!report) return std::unexpected(report.error());
  return CacheAnswer{report->bad.empty() ? 0 : kExitFailure, print_verify(*report, how_)};
}

CacheRun::Answer CacheRun::export_file() {
  if (auto status = open_and_look(StoreAccess::read); !status) {
    return std::unexpected(status.error());
  }
  const auto target = find_target(contents_.records, {}, request_.id);
  if (!target) return std::unexpected(target.error());
  const auto report = export_bundle(*admin_, contents_, *target, request_.file);
  if (!report) return std::unexpected(report.error());
  return CacheAnswer{0, print_export(*report, request_.file, how_)};
}

CacheRun::Answer CacheRun::import_file() {
  if (auto status = open_and_look(StoreAccess::create); !status) {
    return std::unexpected(status.error());
  }
  const auto report = import_bundle(*admin_, contents_, request_.file);
  if (!report) return std::unexpected(report.error());
  return CacheAnswer{0, print_import(*report, request_.file, how_)};
}

}  // namespace samovar::app
