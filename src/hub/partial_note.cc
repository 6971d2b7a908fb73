#include "hub/partial_note.h"

#include <fmt/format.h>

#include <charconv>

namespace samovar::hub {
namespace {

constexpr std::uint64_t kTextMax = std::uint64_t{64} << 10;

// Takes the first line off `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string note_text(const PartialNote& note) {
  return fmt::format("{}\n{}\n{}\n", note.path, note.bytes, note.etag);
}

std::optional<PartialNote> parse_note(std::string_view text) {
  PartialNote note;
  note.path = take_line(text);
  const std::string_view bytes = take_line(text);
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), note.bytes);
  if (note.path.empty() || error != std::errc() || end != bytes.data() + bytes.size()) {
    return std::nullopt;
  }
  note.etag = take_line(text);
  return note;
}

std::optional<std::string> read_text(Fs& fs, const std::string& path) {
  const auto reader = fs.open(path);
  if (!reader || (*reader)->size() > kTextMax) return std::nullopt;
  std::string text((*reader)->size(), '\0');
  const auto count =
      (*reader)->read_at(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  if (!count) return std::nullopt;
  text.resize(*count);
  return text;
}

FsStatus write_text(CacheFs& fs, const std::string& path, const std::string& temporary,
                    std::string_view text) {
  // What a process that died left there would otherwise be continued.
  if (const auto gone = fs.remove(temporary); !gone && gone.error().fault != FsFault::not_found) {
    return gone;
  }
  {
    const auto writer = fs.append(temporary);
    if (!writer) return std::unexpected(writer.error());
    const Bytes bytes{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    if (auto status = (*writer)->write(bytes); !status) return status;
    if (auto status = (*writer)->sync(); !status) return status;
  }
  return fs.rename(temporary, path);
}

}  // namespace samovar::hub
