// The reports of `samovar cache` that are no lists of what is stored.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/cache_tables.h"
#include "base/size_text.h"
#include "store/store_family.h"

namespace samovar::app {

namespace {

using nlohmann::json;

json json_of(const FileCount& count) { return {{"files", count.files}, {"bytes", count.bytes}}; }

FileCount pinned_files(const StoreContents& contents) {
  FileCount count;
  const NodeSet pinned = pinned_nodes(contents);
  for (const BlobRecord& record : contents.records) {
    if (pinned.contains(record.identity)) count.add(record.file_bytes);
  }
  return count;
}

FileCount unreachable_files(const StoreContents& contents) {
  FileCount count;
  const auto keys = unreachable_blobs(contents);
  const std::set<BlobKey> unreachable(keys.begin(), keys.end());
  for (const BlobRecord& record : contents.records) {
    if (unreachable.contains(key_of(record))) count.add(record.file_bytes);
  }
  return count;
}

std::uint64_t sessions_in(const StoreContents& contents) {
  std::set<SessionId> sessions;
  for (const BlobRecord& record : contents.records) sessions.insert(record.session);
  return sessions.size();
}

json stats_json(const StoreContents& contents, const Printing& how) {
  json value = head(contents, how);
  value["models"] = json::array();
  for (const ModelSummary& model : summarise_models(contents)) {
    value["models"].push_back({{"model", model.label},
                               {"fingerprint", model.model.hex()},
                               {"sessions", model.sessions},
                               {"segments", model.segments},
                               {"snapshots", model.snapshots},
                               {"bytes", model.bytes},
                               {"last_used", model.last_used}});
  }
  value["files"] = contents.records.size();
  value["bytes"] = bytes_that_count(contents) - contents.unknown_versions.bytes;
  value["sessions"] = sessions_in(contents);
  value["pinned"] = json_of(pinned_files(contents));
  value["unreachable"] = json_of(unreachable_files(contents));
  value["quarantine"] = json_of(contents.quarantined);
  value["temporaries"] = json_of(contents.temporary);
  value["unknown_versions"] = json_of(contents.unknown_versions);
  value["foreign_files"] = contents.foreign;
  value["catalog_bytes"] = contents.catalog_bytes;
  value["disk_free_bytes"] = contents.space.free;
  value["disk_total_bytes"] = contents.space.total;
  return value;
}

std::string line(const char* name, const std::string& what) {
  return fmt::format("{:<16}{}\n", name, what);
}

std::string id_list(const std::vector<Identity>& identities) {
  std::string list;
  for (const Identity& identity : identities) {
    list += (list.empty() ? "" : ", ") + short_id(identity.hex());
  }
  return list;
}

}  // namespace

std::string print_stats(const StoreContents& contents, const Printing& how) {
  if (how.json) return dump_json(stats_json(contents, how));
  Table table({{"MODEL"},
               {"FINGERPRINT"},
               {"SESSIONS", true},
               {"SEGMENTS", true},
               {"SNAPSHOTS", true},
               {"SIZE", true},
               {"LAST USED"}});
  ModelSummary all;
  for (const ModelSummary& model : summarise_models(contents)) {
    table.add({printable(model.label), short_id(model.model.hex()), std::to_string(model.sessions),
               std::to_string(model.segments), std::to_string(model.snapshots),
               format_bytes(model.bytes), format_age(how.now - model.last_used)});
    all.segments += model.segments;
    all.snapshots += model.snapshots;
    all.bytes += model.bytes;
  }
  table.add({"all", "", std::to_string(sessions_in(contents)), std::to_string(all.segments),
             std::to_string(all.snapshots), format_bytes(all.bytes), ""});
  std::string text = table.text() + "\n";
  text += line("pinned", format_count(pinned_files(contents)));
  text +=
      line("unreachable", format_count(unreachable_files(contents)) + " that nothing can match");
  text += line("quarantine", format_count(contents.quarantined));
  text += line("temporaries", format_count(contents.temporary));
  text += line("newer versions", format_count(contents.unknown_versions) + ", left alone");
  if (contents.foreign > 0) text += line("other files", std::to_string(contents.foreign));
  text += line("catalog", format_bytes(contents.catalog_bytes));
  text += line("free on disk", fmt::format("{} of {}", format_bytes(contents.space.free),
                                           format_bytes(contents.space.total)));
  return text + source_line(contents);
}

std::string print_verify(const VerifyReport& report, const Printing& how) {
  if (how.json) {
    json bad = json::array();
    for (const BadFile& file : report.bad) {
      bad.push_back({{"path", file.path},
                     {"what", file.what},
                     {"damaged", file.damaged},
                     {"quarantined", file.repaired}});
    }
    return dump_json({{"folder", how.folder},
                      {"good", json_of(report.good)},
                      {"bad", bad},
                      {"unknown_versions", json_of(report.unknown_versions)},
                      {"unreachable", json_of(report.unreachable)}});
  }
  std::string text;
  std::size_t to_repair = 0;
  for (const BadFile& file : report.bad) {
    text += printable(file.what) + (file.repaired ? " -> quarantine\n" : "\n");
    to_repair += file.damaged && !file.repaired ? 1 : 0;
  }
  text += fmt::format("{} good, {} bad\n", format_count(report.good), report.bad.size());
  if (report.unknown_versions.files > 0) {
    text +=
        fmt::format("{} of a newer version, not checked\n", format_count(report.unknown_versions));
  }
  if (report.unreachable.files > 0) {
    text += fmt::format("{} that nothing can match: `samovar cache gc` removes them\n",
                        format_count(report.unreachable));
  }
  if (to_repair > 0) text += "`samovar cache verify --repair` puts damaged files in quarantine\n";
  return text;
}

std::string print_gc(const GcReport& report, bool dry, const Printing& how) {
  if (how.json) {
    return dump_json({{"folder", how.folder},
                      {"dry_run", dry},
                      {"temporaries", json_of(report.temporaries)},
                      {"quarantine", json_of(report.quarantined)},
                      {"unreachable", json_of(report.unreachable)},
                      {"evicted", json_of(report.evicted)},
                      {"freed_bytes", report.freed()},
                      {"bytes_left", report.bytes_left},
                      {"fits", report.fits}});
  }
  std::string text = line("temporaries", format_count(report.temporaries)) +
                     line("quarantine", format_count(report.quarantined)) +
                     line("unreachable", format_count(report.unreachable)) +
                     line("evicted", format_count(report.evicted));
  text += fmt::format("{} {}, {} {} left\n", format_bytes(report.freed()),
                      dry ? "would be freed" : "freed", format_bytes(report.bytes_left),
                      dry ? "would be" : "are");
  if (!report.fits) text += "that is more than asked: the rest is pinned or of a newer version\n";
  return text;
}

std::string print_rebuild(const RebuildReport& report, const Printing& how) {
  if (how.json) {
    return dump_json({{"folder", how.folder},
                      {"entries", report.records},
                      {"damaged", report.damaged},
                      {"unknown_versions", report.unknown_versions}});
  }
  std::string text = fmt::format("the catalog was made again: {} entr{}\n", report.records,
                                 report.records == 1 ? "y" : "ies");
  if (report.unknown_versions > 0) {
    text += fmt::format("{} of a newer version, left alone\n", report.unknown_versions);
  }
  if (report.damaged > 0) {
    text += fmt::format("{} damaged: `samovar cache verify --repair` puts them in quarantine\n",
                        report.damaged);
  }
  return text;
}

std::string print_export(const ExportReport& report, const std::string& file, const Printing& how) {
  if (how.json) {
    return dump_json({{"file", file},
                      {"blobs", report.blobs},
                      {"bytes", report.bytes},
                      {"tokens", report.tokens},
                      {"left_out", report.left_out}});
  }
  std::string text = fmt::format("{}: {} blob{}, up to {} tokens, {}\n", file, report.blobs,
                                 plural(report.blobs), report.tokens, format_bytes(report.bytes));
  if (report.left_out > 0) {
    text += fmt::format("{} left out: their chain is broken\n", report.left_out);
  }
  return text + "It holds the conversation's tokens: keep it as you would keep the text\n";
}

std::string print_import(const ImportReport& report, const std::string& file, const Printing& how) {
  if (how.json) {
    json models = json::array();
    for (const ImportedModel& model : report.models) {
      models.push_back({{"model", model.label},
                        {"fingerprint", model.model.hex()},
                        {"blobs", model.blobs},
                        {"known", model.known}});
    }
    return dump_json({{"file", file},
                      {"taken", report.taken},
                      {"bytes", report.bytes},
                      {"there_before", report.there},
                      {"sessions", report.sessions},
                      {"models", models}});
  }
  std::string text = fmt::format("taken in: {} of {} session{}; {} there before\n",
                                 format_count({report.taken, report.bytes}), report.sessions,
                                 plural(report.sessions), report.there);
  bool unknown = false;
  for (const ImportedModel& model : report.models) {
    text += fmt::format("model {}, fingerprint {}: {} blob{}{}\n", printable(model.label),
                        short_id(model.model.hex()), model.blobs, plural(model.blobs),
                        model.known ? "" : ", the first ones here");
    unknown = unknown || !model.known;
  }
  if (unknown) {
    text +=
        "They match only for a server whose model and settings have the same fingerprint; for any "
        "other they lie here unused until they are evicted\n";
  }
  return text;
}

std::string print_removal(const RemovalReport& report, const Printing& how) {
  if (how.json) {
    return dump_json({{"folder", how.folder},
                      {"dry_run", report.dry},
                      {"removed", json_of(report.removed)},
                      {"of_other_sessions", json_of(report.others)},
                      {"kept", json_of(report.kept)}});
  }
  std::string text = fmt::format("{}: {}\n", report.dry ? "would be removed" : "removed",
                                 format_count(report.removed));
  if (report.others.files > 0) {
    text += fmt::format("of them {} of other sessions, which stood on the rest\n",
                        format_count(report.others));
  }
  if (report.kept.files > 0) {
    text += fmt::format(
        "kept: {} that other sessions stand on; `samovar cache rm` removes those as well\n",
        format_count(report.kept));
  }
  return text;
}

std::string print_pins(const PinReport& report, const Printing& how) {
  if (how.json) {
    json changed = json::array();
    for (const Identity& identity : report.changed) changed.push_back(identity.hex());
    return dump_json({{report.pinned ? "pinned" : "unpinned", changed},
                      {"pins", report.pins},
                      {"kept", json_of(report.kept)}});
  }
  return fmt::format("{}: {}\n{} pin{} keep{} {}\n", report.pinned ? "pinned" : "unpinned",
                     id_list(report.changed), report.pins, plural(report.pins),
                     report.pins == 1 ? "s" : "", format_count(report.kept));
}

}  // namespace samovar::app
