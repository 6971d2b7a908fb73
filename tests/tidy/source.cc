#include "tests/tidy/source.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace samovar::tidy {
namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where the literal or comment that starts at `begin` ends; `begin` itself if none starts there.
std::size_t end_of_hidden(const std::string& text, std::size_t begin) {
  const auto after = [&](std::string_view closing, std::size_t from) {
    const std::size_t found = text.find(closing, from);
    return found == std::string::npos ? text.size() : found + closing.size();
  };
  const std::string_view rest = std::string_view(text).substr(begin);
  if (rest.starts_with("//")) return std::min(text.find('\n', begin), text.size());
  if (rest.starts_with("/*")) return after("*/", begin + 2);
  const bool inside_word = begin > 0 && is_word(text[begin - 1]);
  if (rest.starts_with("R\"") && !inside_word) {
    const std::size_t open = text.find('(', begin);
    return after(")" + text.substr(begin + 2, open - begin - 2) + "\"", open);
  }
  const bool digit_separator = rest.starts_with('\'') && inside_word;
  if ((rest.starts_with('"') || rest.starts_with('\'')) && !digit_separator) {
    std::size_t i = begin + 1;
    while (i < text.size() && text[i] != rest[0] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text.size());
  }
  return begin;
}

std::string blank_hidden(std::string text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_hidden(text, i);
    for (std::size_t k = i; k < end; ++k) {
      if (text[k] != '\n') text[k] = ' ';
    }
    i = std::max(i + 1, end);
  }
  return text;
}

// An include's name is a string, but a rule reads it from `lines`.
bool wanted(const std::filesystem::path& path) {
  return path.extension() == ".cc" || path.extension() == ".h" || path.extension() == ".md";
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool qualified_by_another(std::string_view code, std::size_t at) {
  const std::string_view before = code.substr(0, at);
  if (before.ends_with('.') || before.ends_with("->")) return true;
  return before.ends_with("::") && !before.ends_with("std::");
}

}  // namespace

bool Source::is_test() const {
  return in("tests/") || path.ends_with("_test.cc") || path.ends_with("_testing.h") ||
         path.ends_with("_doubles.h");
}

Source make_source(std::string path, const std::string& text) {
  Source source;
  source.path = std::move(path);
  source.lines = split_lines(text);
  if (source.is_cpp()) source.code = split_lines(blank_hidden(text));
  return source;
}

std::vector<Source> read_sources(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  for (const char* folder : {"src", "tests", "tools", "bench", "docs"}) {
    if (!fs::exists(fs::path(root) / folder)) continue;
    fs::recursive_directory_iterator entry(fs::path(root) / folder);
    for (; entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      if (entry->is_regular_file() && wanted(entry->path())) paths.push_back(entry->path());
    }
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && wanted(entry.path())) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Source> sources;
  sources.reserve(paths.size());
  for (const fs::path& path : paths) {
    sources.push_back(make_source(fs::relative(path, root).generic_string(), read_file(path)));
  }
  return sources;
}

bool uses(std::string_view code, std::string_view name, bool as_call) {
  const bool qualified = name.find("::") != std::string_view::npos;
  for (std::size_t at = code.find(name); at != std::string_view::npos;
       at = code.find(name, at + 1)) {
    if (at > 0 && is_word(code[at - 1])) continue;
    std::size_t end = at + name.size();
    if (end < code.size() && is_word(code[end])) continue;
    if (!qualified && qualified_by_another(code, at)) continue;
    while (end < code.size() && code[end] == ' ') ++end;
    if (code.substr(end).starts_with("::")) continue;  // std::thread::hardware_concurrency
    if (!as_call || (end < code.size() && code[end] == '(')) return true;
  }
  return false;
}

}  // namespace samovar::tidy
