#include "tests/tidy/rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace samovar::tidy {
namespace {

constexpr std::size_t kCodeLinesMax = 600;
constexpr std::size_t kTestLinesMax = 800;
constexpr std::size_t kColumnsMax = 100;
constexpr std::size_t kFunctionLinesMax = 70;

// What each folder of src/ may include, besides itself: every layer that stands below it.
const std::map<std::string_view, std::vector<std::string_view>>& layers() {
  static const std::map<std::string_view, std::vector<std::string_view>> table = {
      {"base", {}},
      {"core", {"base"}},
      {"fs", {"base"}},
      {"explain", {"core", "base"}},
      {"ledger", {"explain", "core", "fs", "base"}},
      {"net", {"base"}},
      {"hub", {"net", "fs", "base"}},
      {"client", {"net", "fs", "base"}},
      {"bench", {"client", "net", "fs", "base"}},
      {"replay", {"bench", "client", "net", "core", "fs", "base"}},
      {"obs", {"base"}},
      {"engine", {"obs", "core", "fs", "base"}},
      {"prefix", {"engine", "obs", "core", "fs", "base"}},
      {"store", {"engine", "obs", "core", "fs", "base"}},
      {"tier", {"engine", "obs", "core", "fs", "base"}},
      {"chat", {"engine", "obs", "core", "fs", "base"}},
      {"sched", {"prefix", "store", "tier", "engine", "obs", "core", "fs", "base"}},
      {"turn",
       {"ledger", "explain", "chat", "sched", "prefix", "store", "tier", "engine", "obs", "core",
        "fs", "base"}},
      {"api",
       {"turn", "ledger", "explain", "chat", "sched", "prefix", "store", "tier", "engine", "obs",
        "core", "fs", "base"}},
      {"http", {"api", "turn", "obs", "core", "fs", "base"}},
      {"app",
       {"http", "api",   "client", "hub",   "net",  "bench",  "replay", "turn", "ledger", "explain",
        "chat", "sched", "prefix", "store", "tier", "engine", "obs",    "core", "fs",     "base"}},
  };
  return table;
}

struct Library {
  std::string_view prefix;  // of the included name
  std::vector<std::string_view> folders;
};

// The first line that matches decides. Tests outside src/ may use what they like.
const std::vector<Library>& libraries() {
  static const std::vector<std::string_view> llama = {"src/engine/", "src/chat/", "tools/mkmodel/",
                                                      "bench/"};
  static const std::vector<Library> table = {
      {"llama", llama},
      {"ggml", llama},
      {"gguf", llama},
      {"nlohmann/",
       {"src/api/", "src/http/", "src/client/", "src/app/", "src/hub/hub_json.", "src/bench/",
        "src/replay/", "bench/"}},
      {"prometheus/", {"src/obs/"}},
      {"httplib", {"src/http/"}},
      {"cpp-httplib/", {"src/http/"}},
      {"sys/socket.h", {"src/http/"}},
      {"netinet/", {"src/http/"}},
      {"arpa/", {"src/http/", "src/net/"}},
      {"CLI/", {"src/app/"}},
      {"spdlog/", {"src/base/"}},
      {"openssl/", {"src/base/"}},
      {"xxhash.h", {"src/base/"}},
      {"curl/", {"src/net/", "src/client/"}},
      {"histedit.h", {"src/client/"}},
      {"sqlite3", {"src/fs/sqlite.cc"}},
      {"SQLiteCpp/", {}},
  };
  return table;
}

struct Ban {
  std::string_view name;
  bool as_call;                           // only where it is called
  std::vector<std::string_view> allowed;  // folders and files where it is right
  std::string_view instead;
};

const std::vector<Ban>& bans() {
  static constexpr std::string_view time = "ask the Clock that is passed in (base/clock.h)";
  static constexpr std::string_view wait = "wait on a condition variable with a deadline";
  static constexpr std::string_view say = "use base/log.h";
  static constexpr std::string_view threads =
      "threads start in base/executor, sched/, ledger/, rewarmer, http/, app/";
  static constexpr std::string_view chance = "pass a seeded <random> engine";
  static constexpr std::string_view streams = "use <fstream>, or fs/ for what must be durable";
  static constexpr std::string_view parse = "use std::from_chars";
  static const std::vector<std::string_view> drains = {"src/http/", "src/sched/engine_thread.cc"};
  static const std::vector<Ban> table = {
      {"fopen", true, {"src/fs/"}, streams},
      {"freopen", true, {}, streams},
      {"std::thread",
       false,
       {"src/base/executor", "src/sched/", "src/http/", "src/app/", "src/ledger/ledger.",
        "src/turn/rewarmer."},
       threads},
      {"std::jthread", false, {"src/sched/", "src/http/", "src/app/"}, threads},
      {"std::async", true, {}, threads},
      {"system_clock::now", true, {"src/base/clock.cc"}, time},
      {"steady_clock::now", true, {"src/base/clock.cc", "src/http/"}, time},
      {"high_resolution_clock::now", true, {}, time},
      {"time", true, {"src/chat/template_source.cc"}, time},
      {"sleep", true, {}, wait},
      {"usleep", true, {}, wait},
      {"this_thread::sleep_for", true, drains, wait},
      {"this_thread::sleep_until", true, drains, wait},
      {"rand", true, {}, chance},
      {"srand", true, {}, chance},
      {"printf", true, {"src/app/"}, say},
      {"fprintf", true, {"src/app/"}, say},
      {"puts", true, {"src/app/"}, say},
      {"fmt::print", true, {"src/app/"}, say},
      {"std::cout", false, {"src/app/"}, say},
      {"std::cerr", false, {"src/app/"}, say},
      {"sprintf", true, {}, "use fmt::format"},
      {"strcpy", true, {}, "use std::string"},
      {"strtok", true, {}, "use std::string_view"},
      {"atoi", true, {}, parse},
      {"atof", true, {}, parse},
      {"getenv",
       true,
       {"src/app/", "src/engine/fingerprint.cc"},
       "options come from ServeOptions; the environment holds secrets"},
      {"exit", true, {}, "return an Error"},
      {"abort", true, {}, "return an Error, or assert a promise between our own parts"},
  };
  return table;
}

std::string at(const Source& source, std::size_t index, const std::string& what) {
  return source.path + ":" + std::to_string(index + 1) + ": " + what;
}

// "base/log.h" of `#include "base/log.h"`, "string" of `#include <string>`.
std::optional<std::string_view> included(std::string_view line) {
  constexpr std::string_view start = "#include ";
  if (!line.starts_with(start)) return std::nullopt;
  const std::string_view name = line.substr(start.size());
  const std::size_t end = name.find_first_of(">\"", 1);
  if (end == std::string_view::npos) return std::nullopt;
  return name.substr(1, end - 1);
}

bool in_any(const Source& source, const std::vector<std::string_view>& places) {
  return std::any_of(places.begin(), places.end(),
                     [&](std::string_view place) { return source.in(place); });
}

std::string_view first_folder(std::string_view path) { return path.substr(0, path.find('/')); }

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string_view trimmed(std::string_view code) {
  while (code.ends_with(' ')) code.remove_suffix(1);
  return code;
}

}  // namespace

Findings check_layers(const Source& source) {
  Findings findings;
  if (!source.is_cpp() || !source.in("src/")) return findings;
  const std::string_view own = first_folder(std::string_view(source.path).substr(4));
  const auto layer = layers().find(own);
  if (layer == layers().end()) {
    return {source.path + ": src/" + std::string(own) +
            "/ is not a layer. Add it to tests/tidy/rules.cc"};
  }
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const auto name = included(source.lines[i]);
    if (!name || source.lines[i].find('"') == std::string::npos) continue;
    const std::string_view other = first_folder(*name);
    if (other == own || (other == "tests" && source.is_test())) continue;
    const auto& below = layer->second;
    if (std::find(below.begin(), below.end(), other) != below.end()) continue;
    findings.push_back(at(source, i,
                          std::string(own) + "/ may not include " + std::string(*name) +
                              ". Includes go down only: move what both need to a lower layer"));
  }
  return findings;
}

Findings check_libraries(const Source& source) {
  Findings findings;
  if (!source.is_cpp() || source.in("tests/")) return findings;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const auto name = included(source.lines[i]);
    if (!name || source.lines[i].find('<') == std::string::npos) continue;
    if (*name == "nlohmann/json.hpp" && source.is_header() && !source.is_test()) {
      findings.push_back(
          at(source, i, "<nlohmann/json.hpp> in a header. Use <nlohmann/json_fwd.hpp>"));
    }
    const auto library =
        std::find_if(libraries().begin(), libraries().end(),
                     [&](const Library& known) { return name->starts_with(known.prefix); });
    if (library == libraries().end() || in_any(source, library->folders)) continue;
    std::string places;
    for (const std::string_view folder : library->folders) places += " " + std::string(folder);
    findings.push_back(at(source, i,
                          "<" + std::string(*name) + "> belongs to" +
                              (places.empty() ? " no folder yet" : places) +
                              ". Use that folder's interface"));
  }
  return findings;
}

Findings check_banned(const Source& source) {
  Findings findings;
  if (!source.is_cpp() || !source.in("src/") || source.is_test()) return findings;
  for (const Ban& ban : bans()) {
    if (in_any(source, ban.allowed)) continue;
    for (std::size_t i = 0; i < source.code.size(); ++i) {
      if (!uses(source.code[i], ban.name, ban.as_call)) continue;
      findings.push_back(
          at(source, i, std::string(ban.name) + ". Instead: " + std::string(ban.instead)));
    }
  }
  if (source.is_header()) {
    for (std::size_t i = 0; i < source.code.size(); ++i) {
      if (source.code[i].starts_with("using namespace ")) {
        findings.push_back(at(source, i, "using namespace in a header. Name what is used"));
      }
    }
  }
  return findings;
}

Findings check_file_size(const Source& source) {
  if (!source.is_cpp()) return {};
  const std::size_t most = source.is_test() ? kTestLinesMax : kCodeLinesMax;
  if (source.lines.size() <= most) return {};
  return {source.path + ": " + std::to_string(source.lines.size()) + " lines, at most " +
          std::to_string(most) + ". Split it by idea"};
}

Findings check_columns(const Source& source) {
  Findings findings;
  if (!source.is_cpp()) return findings;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    if (characters(source.lines[i]) <= kColumnsMax) continue;
    findings.push_back(
        at(source, i, "more than 100 columns. Run make format; wrap comments by hand"));
  }
  return findings;
}

// In clang-format's layout a definition starts at column 0 and closes with a brace at column 0. A
// function closes with "}", everything else (class, table) with "};"; namespaces do not indent.
Findings check_functions(const Source& source) {
  Findings findings;
  if (!source.is_cpp() || source.is_test()) return findings;
  std::optional<std::size_t> start;
  bool inside = false;
  for (std::size_t i = 0; i < source.code.size(); ++i) {
    const std::string_view line = trimmed(source.code[i]);
    const bool at_margin = !line.empty() && line[0] != ' ' && line[0] != '#';
    if (inside && at_margin && line[0] == '}') {
      const std::size_t length = i - *start + 1;
      if (line == "}" && length > kFunctionLinesMax) {
        findings.push_back(at(source, *start,
                              "a function of " + std::to_string(length) +
                                  " lines, at most 70. Give its parts names"));
      }
      inside = false;
      start.reset();
    }
    if (inside || line.empty() || line[0] == '}') continue;
    if (at_margin && !start) start = i;
    if (line.starts_with("namespace") || line.starts_with("extern") || line.ends_with(';')) {
      start.reset();
    } else if (start && line.ends_with('{')) {
      inside = true;
    }
  }
  return findings;
}

Findings check_header(const Source& source) {
  Findings findings;
  if (!source.is_header()) return findings;
  if (source.lines.empty() || !source.lines[0].starts_with("// ")) {
    findings.push_back(source.path +
                       ":1: no opening comment. Say what it is for and who may call it");
  }
  if (std::find(source.lines.begin(), source.lines.end(), "#pragma once") == source.lines.end()) {
    findings.push_back(source.path + ": no #pragma once");
  }
  return findings;
}

Findings check_leftovers(const Source& source) {
  Findings findings;
  // Split, so that this file passes its own rule.
  static const std::array<std::string, 3> marks = {
      std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X"};
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    for (const std::string& mark : marks) {
      if (!uses(source.lines[i], mark, false)) continue;
      findings.push_back(at(source, i, mark + ". Do it now or open an issue"));
    }
  }
  return findings;
}

Findings check_markdown(const Source& source) {
  if (!source.path.ends_with(".md")) return {};
  std::size_t titles = 0;
  bool fenced = false;
  for (const std::string& line : source.lines) {
    if (line.starts_with("```")) fenced = !fenced;
    if (!fenced && line.starts_with("# ")) ++titles;
  }
  if (titles == 1 && source.lines[0].starts_with("# ")) return {};
  return {source.path + ": a page has one `# Title`, on its first line; this one has " +
          std::to_string(titles)};
}

}  // namespace samovar::tidy
