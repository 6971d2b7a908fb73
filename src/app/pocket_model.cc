#include "app/pocket_model.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "base/hex_text.h"

namespace samovar::app {
namespace {

constexpr int kCells = 32'768;  // several conversations: 1 KB of K/V a token

// Where the file may lie, seen from the program's folder: a build folder or one in it, or bin/.
constexpr std::array kPlaces = {"../models/pocket.gguf", "../../models/pocket.gguf",
                                "../share/samovar/pocket.gguf"};

constexpr std::uint64_t kAnchorMemory = std::uint64_t{256} << 20;  // 3,000 of its snapshots
constexpr std::uint64_t kStoreBuffers = std::uint64_t{64} << 20;

std::unexpected<Error> refuse(std::string trouble, const std::string& remedy) {
  return fail(ErrorKind::invalid_argument,
              "no model is given, and Pocket, which comes with Samovar, " + std::move(trouble),
              "--model",
              fmt::format("{}, or name a model: samovar serve -m model.gguf, or {}", remedy,
                          kRealModelLine));
}

bool is_given(const ServeOptions& options, std::string_view flag) {
  return std::ranges::any_of(options.given,
                             [&](const auto& option) { return option.first == flag; });
}

Result<std::string> checked(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  if (content.empty()) return refuse("cannot be read: " + path, "Check the file's permissions");
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  if (hex_text(sha256(bytes)) == SAMOVAR_POCKET_SHA256) return path;
  return refuse("is another file than this build knows: " + path,
                "Bring it back (git checkout models/pocket.gguf) or build again (make build)");
}

}  // namespace

std::string running_program() {
#ifdef __APPLE__
  std::array<char, 4096> path = {};
  std::uint32_t size = path.size();
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  return path.data();
#else
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
#endif
}

Result<std::string> pocket_file(const std::string& program) {
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  std::string places;
  for (const char* place : kPlaces) {
    std::error_code error;
    const auto path = (folder / place).lexically_normal();
    if (std::filesystem::is_regular_file(path, error)) return checked(path.string());
    places += (places.empty() ? "" : ", ") + path.string();
  }
  return refuse("is in none of these places: " + places, "Put it there");
}

bool names_no_model(const ServeOptions& options) {
  return options.model.empty() && options.hf_repo.empty() && options.hf_file.empty();
}

Status use_pocket(ServeOptions& options) {
  auto path = pocket_file(running_program());
  if (!path) return std::unexpected(path.error());
  options.model = std::move(*path);
  if (!is_given(options, "--ctx-size")) options.ctx_size = kCells;
  if (!options.anchor_memory) options.anchor_memory = kAnchorMemory;
  if (!options.store_buffers) options.store_buffers = kStoreBuffers;
  // It was made for the likeliest token: others break its memory.
  if (!is_given(options, "--temp")) options.sampling.temperature = 0.0;
  return {};
}

}  // namespace samovar::app
