// What `samovar cache` prints: every report as text for people and as JSON for programs. JSON holds
// whole ids, bytes and seconds since 1970; text holds what a person can read. Pure functions; any
// thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "store/store_admin.h"
#include "store/store_transfer.h"

namespace samovar::app {

// Columns as wide as they must be. Numbers stand to the right.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

[[nodiscard]] std::string format_age(std::int64_t seconds);      // "3 h ago"
[[nodiscard]] std::string format_count(const FileCount& count);  // "3 files, 1.25 MiB"
[[nodiscard]] std::string short_id(const std::string& hex);
// Without what could move a terminal's cursor.
[[nodiscard]] std::string printable(std::string_view text);

struct Printing {
  std::string folder;
  bool json = false;
  std::int64_t now = 0;  // wall seconds
};

// --- shared by the reports ---
[[nodiscard]] std::string dump_json(const nlohmann::json& value);
[[nodiscard]] nlohmann::json head(const StoreContents& contents, const Printing& how);
[[nodiscard]] std::string source_line(const StoreContents& contents);  // or nothing
[[nodiscard]] const char* plural(std::uint64_t count);                 // "s", or nothing

// --- the reports ---
[[nodiscard]] std::string print_sessions(const StoreContents& contents, const Printing& how);
[[nodiscard]] std::string print_entries(const StoreContents& contents, const Printing& how);
[[nodiscard]] std::string print_stats(const StoreContents& contents, const Printing& how);
[[nodiscard]] std::string print_verify(const VerifyReport& report, const Printing& how);
[[nodiscard]] std::string print_gc(const GcReport& report, bool dry, const Printing& how);
[[nodiscard]] std::string print_rebuild(const RebuildReport& report, const Printing& how);
[[nodiscard]] std::string print_export(const ExportReport& report, const std::string& file,
                                       const Printing& how);
[[nodiscard]] std::string print_import(const ImportReport& report, const std::string& file,
                                       const Printing& how);

// Of rm and purge. `others`: files of other sessions that went as well; `kept`: files that other
// sessions stand on.
struct RemovalReport {
  FileCount removed;
  FileCount others;
  FileCount kept;
  bool dry = false;
};
[[nodiscard]] std::string print_removal(const RemovalReport& report, const Printing& how);

// Of pin and unpin.
struct PinReport {
  std::vector<Identity> changed;
  std::size_t pins = 0;  // in all, now
  FileCount kept;        // by all pins
  bool pinned = true;
};
[[nodiscard]] std::string print_pins(const PinReport& report, const Printing& how);

}  // namespace samovar::app
