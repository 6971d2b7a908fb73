#include "hub/repo_ref.h"

#include <algorithm>

namespace samovar::hub {
namespace {

constexpr const char* kForm =
    "Write it OWNER/NAME or OWNER/NAME:QUANT, as in "
    "unsloth/Qwen3.5-4B-GGUF:Q4_K_M";

bool is_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  // "--" stands for "/" in the cache's folder names, and the hub allows it in no name.
  return !name.empty() && name.size() <= 96 && std::ranges::all_of(name, good) &&
         !name.starts_with('.') && !name.starts_with('-') && name.find("..") == name.npos &&
         name.find("--") == name.npos;
}

bool is_quant(std::string_view quant) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !quant.empty() && quant.size() <= 64 && std::ranges::all_of(quant, good);
}

}  // namespace

Result<RepoRef> parse_repo_ref(std::string_view text, const std::string& flag) {
  const std::size_t colon = text.find(':');
  const std::string_view repo = text.substr(0, colon);
  const std::size_t slash = repo.find('/');
  const bool named = slash != std::string_view::npos && is_name(repo.substr(0, slash)) &&
                     is_name(repo.substr(slash + 1));
  if (!named) {
    return fail(ErrorKind::invalid_argument, "\"" + std::string(text) + "\" names no repository",
                flag, kForm);
  }
  RepoRef ref{std::string(repo), {}};
  if (colon == std::string_view::npos) return ref;
  const std::string_view quant = text.substr(colon + 1);
  if (!is_quant(quant)) {
    return fail(ErrorKind::invalid_argument, "\"" + std::string(quant) + "\" is no quantisation",
                flag, kForm);
  }
  ref.quant = quant;
  return ref;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > 1024) return false;
  const auto bad = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\' || c == ':';
  };
  if (std::ranges::any_of(path, bad)) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace samovar::hub
