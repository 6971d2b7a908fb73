#include "hub/blob_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hex_text.h"
#include "hub/hub_errors.h"
#include "hub/partial_note.h"

namespace samovar::hub {
namespace {

constexpr std::size_t kReadBytes = std::size_t{4} << 20;

}  // namespace

Result<BlobPart> BlobPart::open(CacheFs& fs, const CacheLayout& layout, const RepoFile& file,
                                const std::function<bool()>& asked_to_stop) {
  BlobPart part(fs, layout, file);
  const std::string path = layout.incomplete(file.blob);
  if (const auto there = fs.stat(path); there && there->bytes > file.bytes) part.remove_files();
  if (const auto text = read_text(fs, layout.about(file.blob))) {
    if (const auto note = parse_note(*text)) part.etag_ = note->etag;
  }
  if (const auto reader = fs.open(path)) {
    std::vector<std::uint8_t> buffer(kReadBytes);
    while (part.bytes_ < (*reader)->size()) {
      if (asked_to_stop()) return std::unexpected(cancelled_error(""));
      const auto count = (*reader)->read_at(part.bytes_, buffer);
      if (!count) return std::unexpected(disk_error(count.error()));
      if (*count == 0) break;
      part.hasher_.update(Bytes(buffer).first(*count));
      part.bytes_ += *count;
    }
  }
  auto writer = fs.append(path);
  if (!writer) return std::unexpected(disk_error(writer.error()));
  part.writer_ = std::move(*writer);
  part.write_note();
  return part;
}

void BlobPart::note_etag(const std::string& etag) {
  const std::string strong = etag.starts_with("W/") ? std::string() : etag;
  if (strong == etag_) return;
  etag_ = strong;
  write_note();
}

Status BlobPart::add(Bytes bytes) {
  if (auto status = writer_->write(bytes); !status) {
    return std::unexpected(disk_error(status.error()));
  }
  hasher_.update(bytes);
  bytes_ += bytes.size();
  return {};
}

Status BlobPart::start_over() {
  writer_.reset();
  remove_files();
  auto writer = fs_->append(layout_->incomplete(file_->blob));
  if (!writer) return std::unexpected(disk_error(writer.error()));
  writer_ = std::move(*writer);
  hasher_ = Sha256Hasher();
  bytes_ = 0;
  etag_.clear();
  write_note();
  return {};
}

// Without it only the file's name in a list and the conditional request are lost.
void BlobPart::write_note() {
  const std::string path = layout_->about(file_->blob);
  [[maybe_unused]] const auto ignored =
      write_text(*fs_, path, path + ".new", note_text({file_->path, file_->bytes, etag_}));
}

void BlobPart::remove_files() {
  for (const std::string& path : {layout_->incomplete(file_->blob), layout_->about(file_->blob)}) {
    [[maybe_unused]] const auto ignored = fs_->remove(path);
  }
}

Status BlobPart::publish() {
  const std::string digest = hex_text(hasher_.digest());
  if (file_->sha256 && digest != file_->blob) {
    writer_.reset();
    remove_files();
    return fail(ErrorKind::internal,
                fmt::format("{} came damaged and was deleted: its SHA-256 is {}, not {}",
                            file_->path, digest, file_->blob),
                "", "Run the same command again; if that repeats, a proxy or the disk alters it");
  }
  const std::string incomplete = layout_->incomplete(file_->blob);
  if (auto status = writer_->sync(); !status) return std::unexpected(disk_error(status.error()));
  writer_.reset();
  if (auto status = fs_->rename(incomplete, layout_->blob(file_->blob)); !status) {
    return std::unexpected(disk_error(status.error()));
  }
  if (auto status = fs_->sync_directory(layout_->blobs()); !status) {
    return std::unexpected(disk_error(status.error()));
  }
  [[maybe_unused]] const auto ignored = fs_->remove(layout_->about(file_->blob));
  return {};
}

}  // namespace samovar::hub
