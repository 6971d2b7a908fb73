#include "store/store_contents.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "store/store_family.h"
#include "store/store_index.h"

namespace samovar {
namespace {

StoreIndex index_of(const StoreContents& contents) {
  StoreIndex index;
  for (const BlobRecord& record : contents.records) index.add(record, false);
  for (const Identity& pin : contents.pins) index.pin(pin);
  return index;
}

}  // namespace

NodeSet pinned_nodes(const StoreContents& contents) {
  NodeSet pinned;
  if (contents.pins.empty()) return pinned;
  const StoreFamily family(contents.records);
  for (const Identity& pin : contents.pins) {
    for (const BlobRecord* segment : family.before(pin)) pinned.insert(segment->identity);
    pinned.insert(pin);
  }
  return pinned;
}

std::vector<SessionSummary> summarise_sessions(const StoreContents& contents) {
  std::map<std::pair<SessionId, Fingerprint>, SessionSummary> sessions;
  const NodeSet pinned = pinned_nodes(contents);
  for (const BlobRecord& record : contents.records) {
    SessionSummary& session = sessions[{record.session, record.model}];
    session.session = record.session;
    session.model = record.model;
    session.label = record.label;
    session.tokens = std::max(session.tokens, record.end);
    ++(record.kind == BlobKind::segment ? session.segments : session.snapshots);
    session.bytes += on_disk(record.file_bytes);
    session.last_used = std::max(session.last_used, record.last_used);
    session.pinned = session.pinned || pinned.contains(record.identity);
  }
  std::vector<SessionSummary> rows;
  rows.reserve(sessions.size());
  for (auto& [key, session] : sessions) rows.push_back(std::move(session));
  std::ranges::stable_sort(rows, std::greater(), &SessionSummary::last_used);
  return rows;
}

std::vector<ModelSummary> summarise_models(const StoreContents& contents) {
  std::map<Fingerprint, std::pair<ModelSummary, std::set<SessionId>>> models;
  for (const BlobRecord& record : contents.records) {
    auto& [model, sessions] = models[record.model];
    model.model = record.model;
    model.label = record.label;
    ++(record.kind == BlobKind::segment ? model.segments : model.snapshots);
    model.bytes += on_disk(record.file_bytes);
    model.last_used = std::max(model.last_used, record.last_used);
    sessions.insert(record.session);
  }
  std::vector<ModelSummary> rows;
  for (auto& [key, model] : models) {
    model.first.sessions = model.second.size();
    rows.push_back(std::move(model.first));
  }
  std::ranges::stable_sort(rows, std::greater(), &ModelSummary::bytes);
  return rows;
}

std::vector<BlobKey> unreachable_blobs(const StoreContents& contents) {
  return index_of(contents).unreachable();
}

std::uint64_t bytes_that_count(const StoreContents& contents) {
  std::uint64_t bytes = contents.unknown_versions.bytes;
  for (const BlobRecord& record : contents.records) bytes += on_disk(record.file_bytes);
  return bytes;
}

std::vector<BlobKey> blobs_to_evict(const StoreContents& contents, std::uint64_t bytes,
                                    std::int64_t now) {
  const std::uint64_t used = bytes_that_count(contents);
  if (used <= bytes) return {};
  return index_of(contents).eviction_order(used - bytes, now);
}

}  // namespace samovar
