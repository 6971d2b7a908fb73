#include "app/cache_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/size_text.h"
#include "store/store_family.h"

namespace samovar::app {

namespace {

using nlohmann::json;

constexpr std::size_t kShortId = 12;

std::size_t width_of(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

const char* kind_name(BlobKind kind) { return kind == BlobKind::segment ? "segment" : "snapshot"; }

std::string session_name(const SessionId& session) {
  return session.known() ? short_id(session.hex()) : "unknown";
}

const char* pin_mark(bool pinned) { return pinned ? "yes" : ""; }

}  // namespace

std::string dump_json(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

json head(const StoreContents& contents, const Printing& how) {
  json value = {{"folder", how.folder}, {"from_catalog", contents.from_catalog}};
  value["owner"] = contents.owner.empty() ? json() : json(contents.owner);
  return value;
}

std::string source_line(const StoreContents& contents) {
  if (contents.owner.empty()) return "";
  return fmt::format("{} owns the store: read from the files' headers\n", contents.owner);
}

const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].title.size());
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  const auto line = [&](const auto& cell) {
    std::string row;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& value = cell(i);
      const std::string fill(widths[i] - width_of(value), ' ');
      row += (i == 0 ? "" : "  ") + (columns_[i].right ? fill + value : value + fill);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) line([&](std::size_t i) -> const std::string& { return row[i]; });
  return text;
}

std::string format_age(std::int64_t seconds) {
  if (seconds < 2) return "now";
  if (seconds < 120) return fmt::format("{} s ago", seconds);
  if (seconds < std::int64_t{2} * 3600) return fmt::format("{} min ago", seconds / 60);
  if (seconds < std::int64_t{2} * 86'400) return fmt::format("{} h ago", seconds / 3600);
  return fmt::format("{} d ago", seconds / 86'400);
}

std::string format_count(const FileCount& count) {
  return fmt::format("{} file{}, {}", count.files, plural(count.files), format_bytes(count.bytes));
}

std::string short_id(const std::string& hex) { return hex.substr(0, kShortId); }

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) ++i;
    safe += byte < 0x20 || byte == 0x7F || c1 ? '?' : text[i];
  }
  return safe;
}

std::string print_sessions(const StoreContents& contents, const Printing& how) {
  const auto sessions = summarise_sessions(contents);
  if (how.json) {
    json value = head(contents, how);
    value["sessions"] = json::array();
    for (const SessionSummary& session : sessions) {
      value["sessions"].push_back({
          {"id", session.session.known() ? json(session.session.hex()) : json()},
          {"model", session.label},
          {"fingerprint", session.model.hex()},
          {"tokens", session.tokens},
          {"segments", session.segments},
          {"snapshots", session.snapshots},
          {"bytes", session.bytes},
          {"last_used", session.last_used},
          {"pinned", session.pinned},
      });
    }
    return dump_json(value);
  }
  Table table({{"SESSION"},
               {"MODEL"},
               {"TOKENS", true},
               {"SNAPSHOTS", true},
               {"SIZE", true},
               {"LAST USED"},
               {"PINNED"}});
  std::uint64_t bytes = 0;
  for (const SessionSummary& session : sessions) {
    bytes += session.bytes;
    table.add({session_name(session.session), printable(session.label),
               std::to_string(session.tokens), std::to_string(session.snapshots),
               format_bytes(session.bytes), format_age(how.now - session.last_used),
               pin_mark(session.pinned)});
  }
  return table.text() +
         fmt::format("{} session{}, {}\n", sessions.size(), plural(sessions.size()),
                     format_count({contents.records.size(), bytes})) +
         source_line(contents);
}

namespace {

json json_of(const BlobRecord& record, bool pinned, bool uses_known) {
  return {
      {"id", record.identity.hex()},
      {"kind", kind_name(record.kind)},
      {"session", record.session.known() ? json(record.session.hex()) : json()},
      {"model", record.label},
      {"fingerprint", record.model.hex()},
      {"parent", record.parent.is_root() ? json() : json(record.parent.hex())},
      {"begin", record.begin},
      {"end", record.end},
      {"place", to_string(record.anchor)},
      {"canonical", record.canonical},
      {"bytes", on_disk(record.file_bytes)},
      {"cost_ms", to_ms(record.cost)},
      {"created", record.created},
      {"last_used", record.last_used},
      {"uses", uses_known ? json(record.uses) : json()},
      {"pinned", pinned},
  };
}

std::vector<std::string> row_of(const BlobRecord& record, bool pinned, std::int64_t now) {
  const bool snapshot = record.kind == BlobKind::snapshot;
  return {short_id(record.identity.hex()),
          kind_name(record.kind),
          session_name(record.session),
          printable(record.label),
          snapshot ? std::to_string(record.end) : fmt::format("{}-{}", record.begin, record.end),
          snapshot ? to_string(record.anchor) : "",
          format_bytes(on_disk(record.file_bytes)),
          format_age(now - record.last_used),
          pin_mark(pinned)};
}

}  // namespace

std::string print_entries(const StoreContents& contents, const Printing& how) {
  const NodeSet pinned = pinned_nodes(contents);
  std::vector<const BlobRecord*> records;
  records.reserve(contents.records.size());
  for (const BlobRecord& record : contents.records) records.push_back(&record);
  std::ranges::sort(records, [](const BlobRecord* a, const BlobRecord* b) {
    return std::tie(a->model, a->session, a->end, a->kind, a->identity) <
           std::tie(b->model, b->session, b->end, b->kind, b->identity);
  });
  if (how.json) {
    json value = head(contents, how);
    value["entries"] = json::array();
    for (const BlobRecord* record : records) {
      value["entries"].push_back(
          json_of(*record, pinned.contains(record->identity), contents.from_catalog));
    }
    return dump_json(value);
  }
  Table table({{"ENTRY"},
               {"KIND"},
               {"SESSION"},
               {"MODEL"},
               {"TOKENS", true},
               {"PLACE"},
               {"SIZE", true},
               {"LAST USED"},
               {"PINNED"}});
  for (const BlobRecord* record : records) {
    table.add(row_of(*record, pinned.contains(record->identity), how.now));
  }
  return table.text() + fmt::format("{} file{}\n", records.size(), plural(records.size())) +
         source_line(contents);
}

}  // namespace samovar::app
