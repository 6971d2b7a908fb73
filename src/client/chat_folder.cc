#include "client/chat_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace samovar::client {
namespace {

constexpr std::string_view kEnding = ".jsonl";
constexpr std::size_t kNameMax = 64;

constexpr std::array<const char*, 24> kFirst = {
    "calm",  "bright", "quiet",  "early",  "green",  "amber", "brisk",  "clear",
    "dusty", "fresh",  "gentle", "happy",  "kind",   "late",  "mellow", "north",
    "pale",  "quick",  "round",  "silver", "smooth", "warm",  "wild",   "young"};
constexpr std::array<const char*, 24> kSecond = {
    "river",  "kettle", "garden",  "meadow", "harbour", "window",  "lantern", "orchard",
    "pebble", "forest", "bridge",  "cloud",  "copper",  "evening", "feather", "ginger",
    "island", "maple",  "morning", "paper",  "saffron", "thistle", "valley",  "willow"};

std::unexpected<Error> of_disk(const FsError& error) {
  return fail(error.fault == FsFault::not_found ? ErrorKind::not_found : ErrorKind::internal,
              error.message);
}

}  // namespace

Status check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kNameMax && name[0] != '.' && name[0] != '-' &&
                    std::ranges::all_of(name, [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                    });
  if (good) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("\"{}\" cannot name a conversation", name),
              "--session",
              fmt::format("use at most {} letters, digits, '-', '_' and '.'", kNameMax));
}

std::string ChatFolder::file_of(const std::string& name) const {
  return join_path(path_, name + std::string(kEnding));
}

bool ChatFolder::exists(const std::string& name) const {
  return check_name(name).has_value() && fs_.stat(file_of(name)).has_value();
}

Result<std::vector<ChatEntry>> ChatFolder::list(std::size_t most) const {
  auto files = fs_.list(path_, /*details=*/true);
  if (!files) {
    if (files.error().fault == FsFault::not_found) return std::vector<ChatEntry>();
    return of_disk(files.error());
  }
  std::erase_if(*files, [](const DirEntry& file) {
    return file.directory || !file.name.ends_with(kEnding) || file.bytes == 0;
  });
  std::ranges::sort(*files, [](const DirEntry& a, const DirEntry& b) {
    return std::pair(-a.modified, a.name) < std::pair(-b.modified, b.name);
  });
  if (files->size() > most) files->resize(most);
  std::vector<ChatEntry> chats;
  for (const DirEntry& file : *files) {
    const std::string name = file.name.substr(0, file.name.size() - kEnding.size());
    const auto chat = load(name);
    if (chat) chats.push_back({name, chat->title, chat->turns, file.modified});
  }
  return chats;
}

Result<LoadedChat> ChatFolder::load(const std::string& name) const {
  if (auto status = check_name(name); !status) return std::unexpected(status.error());
  const auto bytes = read_whole(file_of(name));
  if (!bytes && bytes.error().kind == ErrorKind::not_found) {
    return fail(ErrorKind::not_found, fmt::format("there is no conversation \"{}\"", name), "",
                "/sessions lists those there are");
  }
  if (!bytes) return std::unexpected(bytes.error());
  return load_transcript(*bytes);
}

Result<std::unique_ptr<Transcript>> ChatFolder::open(const std::string& name) const {
  if (auto status = check_name(name); !status) return std::unexpected(status.error());
  if (auto made = fs_.make_directory(path_); !made) return of_disk(made.error());
  auto file = AppendFile::open(file_of(name));
  if (!file) return std::unexpected(file.error());
  if (auto synced = fs_.sync_directory(path_); !synced) return of_disk(synced.error());
  return std::make_unique<Transcript>(std::move(*file), clock_);
}

std::string ChatFolder::fresh_name(std::mt19937_64& random) const {
  const auto pick = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  for (;;) {
    std::string name = fmt::format("{}-{}-{:04x}", kFirst[pick(kFirst.size())],
                                   kSecond[pick(kSecond.size())], pick(0x10000));
    if (!exists(name)) return name;
  }
}

}  // namespace samovar::client
