// Source: one file of the repository as the tidy rules see it. Single-threaded, for tests only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samovar::tidy {

struct Source {
  std::string path;                // relative to the root, with '/'
  std::vector<std::string> lines;  // as written
  std::vector<std::string> code;   // the same with comments, strings and characters blanked out

  [[nodiscard]] bool is_header() const { return path.ends_with(".h"); }
  [[nodiscard]] bool is_cpp() const { return is_header() || path.ends_with(".cc"); }
  [[nodiscard]] bool is_test() const;
  [[nodiscard]] bool in(std::string_view folder) const { return path.starts_with(folder); }
};

[[nodiscard]] Source make_source(std::string path, const std::string& text);

// Every .cc, .h and .md file under src/, tests/, tools/, bench/ and docs/, and the root's .md
// files.
[[nodiscard]] std::vector<Source> read_sources(const std::string& root);

// True at each place where `name` stands as a whole word: not a part of a longer name, and, unless
// `name` is qualified itself, not of another's (x.name, x->name, other::name; std::name counts).
[[nodiscard]] bool uses(std::string_view code, std::string_view name, bool as_call);

}  // namespace samovar::tidy
