// The commands that change the store.
#include <algorithm>
#include <set>

#include "app/cache_run.h"
#include "app/serve.h"
#include "store/store_family.h"

namespace samovar::app {

CacheRun::Answer CacheRun::rebuild() {
  if (auto status = open(StoreAccess::change); !status) return std::unexpected(status.error());
  const auto report = admin_->rebuild();
  if (!report) return std::unexpected(report.error());
  return CacheAnswer{report->damaged == 0 ? 0 : kExitFailure, print_rebuild(*report, how_)};
}

CacheRun::Answer CacheRun::gc() {
  const bool dry = request_.dry_run;
  if (auto status = open_and_look(dry ? StoreAccess::read : StoreAccess::change); !status) {
    return std::unexpected(status.error());
  }
  const auto report = admin_->gc(contents_, request_.size, dry);
  if (!report) return std::unexpected(report.error());
  return CacheAnswer{report->fits ? 0 : kExitFailure, print_gc(*report, dry, how_)};
}

CacheRun::Answer CacheRun::save_pins(std::vector<Identity> pins, PinReport report) {
  if (auto status = admin_->set_pins(pins); !status) return std::unexpected(status.error());
  contents_.pins = std::move(pins);
  report.pins = contents_.pins.size();
  const NodeSet kept = pinned_nodes(contents_);
  for (const BlobRecord& record : contents_.records) {
    if (kept.contains(record.identity)) report.kept.add(record.file_bytes);
  }
  return CacheAnswer{0, print_pins(report, how_)};
}

CacheRun::Answer CacheRun::pin() {
  if (auto status = open_and_look(StoreAccess::change); !status) {
    return std::unexpected(status.error());
  }
  const auto target = find_target(contents_.records, contents_.pins, request_.id);
  if (!target) return std::unexpected(target.error());
  const StoreFamily family(contents_.records);
  PinReport report;
  report.changed = target->session ? family.tips(*target->session) : std::vector{target->node};
  std::erase_if(report.changed, [&](const Identity& node) { return family.chain(node).empty(); });
  if (report.changed.empty()) {
    return fail(ErrorKind::not_found, "its chain is broken: nothing can match it", "",
                "`samovar cache gc` removes it");
  }
  std::vector<Identity> pins = contents_.pins;
  for (const Identity& node : report.changed) {
    if (std::ranges::find(pins, node) == pins.end()) pins.push_back(node);
  }
  return save_pins(std::move(pins), std::move(report));
}

CacheRun::Answer CacheRun::unpin() {
  if (auto status = open_and_look(StoreAccess::change); !status) {
    return std::unexpected(status.error());
  }
  const auto target = find_target(contents_.records, contents_.pins, request_.id);
  if (!target) return std::unexpected(target.error());
  NodeSet nodes;
  if (!target->session) nodes.insert(target->node);
  for (const BlobRecord& record : contents_.records) {
    if (target->has(record)) nodes.insert(record.identity);
  }
  PinReport report{.pinned = false};
  std::vector<Identity> pins;
  for (const Identity& pin : contents_.pins) {
    (nodes.contains(pin) ? report.changed : pins).push_back(pin);
  }
  if (report.changed.empty()) {
    const NodeSet kept = pinned_nodes(contents_);
    const bool below =
        std::ranges::any_of(nodes, [&](const Identity& node) { return kept.contains(node); });
    return fail(ErrorKind::not_found, request_.id + " is not pinned", "",
                below ? "It stays because something behind it is; `samovar cache ls --entries` "
                        "shows what is pinned"
                      : "");
  }
  return save_pins(std::move(pins), std::move(report));
}

FileCount CacheRun::count(const std::vector<BlobKey>& keys) const {
  const std::set<BlobKey> wanted(keys.begin(), keys.end());
  FileCount count;
  for (const BlobRecord& record : contents_.records) {
    if (wanted.contains(key_of(record))) count.add(record.file_bytes);
  }
  return count;
}

CacheRun::Answer CacheRun::remove(const std::vector<BlobKey>& keys, RemovalReport report) {
  report.dry = request_.dry_run;
  report.removed = count(keys);
  if (!report.dry) {
    const auto removed = admin_->remove(contents_, keys);
    if (!removed) return std::unexpected(removed.error());
  }
  return CacheAnswer{0, print_removal(report, how_)};
}

CacheRun::Answer CacheRun::rm() {
  const auto access = request_.dry_run ? StoreAccess::read : StoreAccess::change;
  if (auto status = open_and_look(access); !status) return std::unexpected(status.error());
  const auto target = find_target(contents_.records, contents_.pins, request_.id);
  if (!target) return std::unexpected(target.error());
  std::vector<BlobKey> named;
  for (const BlobRecord& record : contents_.records) {
    if (target->has(record)) named.push_back(key_of(record));
  }
  if (named.empty()) {
    return fail(ErrorKind::not_found, request_.id + " is only a pin on something that is gone", "",
                "`samovar cache unpin` removes it");
  }
  const auto keys = StoreFamily(contents_.records).with_dependants(named);
  RemovalReport report;
  const FileCount all = count(keys);
  const FileCount own = count(named);
  report.others = {all.files - own.files, all.bytes - own.bytes};
  return remove(keys, report);
}

// What is left of files that nobody can read goes as well: it may be of the session.
CacheRun::Answer CacheRun::purge() {
  const auto access = request_.dry_run ? StoreAccess::read : StoreAccess::change;
  if (auto status = open_and_look(access); !status) return std::unexpected(status.error());
  RemovalReport report;
  std::vector<BlobKey> keys;
  if (!request_.session.empty()) {
    const auto session = find_session(contents_.records, request_.session);
    if (!session) return std::unexpected(session.error());
    keys = StoreFamily(contents_.records).only_for(*session);
    std::vector<BlobKey> own;
    for (const BlobRecord& record : contents_.records) {
      if (record.session == *session) own.push_back(key_of(record));
    }
    const FileCount all = count(own);
    const FileCount going = count(keys);
    report.kept = {all.files - going.files, all.bytes - going.bytes};
  } else if (!request_.model.empty()) {
    const auto models = find_models(contents_.records, request_.model);
    if (!models) return std::unexpected(models.error());
    for (const BlobRecord& record : contents_.records) {
      if (std::ranges::find(*models, record.model) != models->end()) keys.push_back(key_of(record));
    }
  } else if (!request_.dry_run) {
    const auto removed = admin_->remove_everything();
    if (!removed) return std::unexpected(removed.error());
    return CacheAnswer{0, print_removal({.removed = *removed}, how_)};
  } else {
    for (const BlobRecord& record : contents_.records) keys.push_back(key_of(record));
  }
  if (!request_.dry_run) {
    if (auto removed = admin_->remove_remains(contents_); !removed) {
      return std::unexpected(removed.error());
    }
  }
  return remove(keys, report);
}

}  // namespace samovar::app
