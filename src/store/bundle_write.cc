#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "base/little_endian.h"
#include "store/bundle_layout.h"

namespace samovar {

using namespace bundle_layout;

namespace {

std::unexpected<Error> failed(const FsError& error) {
  const bool full = error.fault == FsFault::full;
  return fail(ErrorKind::internal, error.message, "", full ? "Choose a disk with more room" : "");
}

std::unexpected<Error> bad_blob(const std::string& path, const std::string& what) {
  return fail(ErrorKind::internal, path + ": " + what, "",
              "`samovar cache verify --repair` takes bad files out of the store");
}

Status fill(FileReader& file, const std::string& path, std::uint64_t offset, MutableBytes into) {
  const auto read = file.read_at(offset, into);
  if (!read) return failed(read.error());
  if (*read != into.size()) return bad_blob(path, "it became shorter");
  return {};
}

// The header and its bytes.
Result<std::pair<DecodedBlob, std::vector<std::uint8_t>>> read_header(FileReader& file,
                                                                      const std::string& path) {
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(file.size(), kBlobFixedBytes));
  if (auto status = fill(file, path, 0, bytes); !status) return std::unexpected(status.error());
  const auto size = blob_header_bytes(bytes);
  if (!size) return bad_blob(path, size.error().message);
  if (*size > file.size()) return bad_blob(path, "its header is cut off");
  bytes.resize(*size);
  if (auto status = fill(file, path, 0, bytes); !status) return std::unexpected(status.error());
  auto blob = decode_blob_header(bytes);
  if (!blob) return bad_blob(path, blob.error().message);
  if (blob->file_bytes() != file.size()) return bad_blob(path, "its length is another");
  return std::pair(std::move(*blob), std::move(bytes));
}

}  // namespace

Result<BundleWriter> BundleWriter::create(Fs& fs, std::string path, std::int64_t created) {
  auto file = fs.create(path);
  if (!file) {
    const bool there = file.error().fault == FsFault::exists;
    return fail(ErrorKind::internal, file.error().message, "",
                there ? "Remove it, or choose another name" : "");
  }
  BundleWriter writer(fs, std::move(path), std::move(*file));
  std::array<std::uint8_t, kBundleHeaderBytes> header{};
  std::ranges::copy(kMagic, header.begin());
  store_le(header.data() + kVersion, kBundleVersion);
  store_le(header.data() + kCreated, created);
  if (auto status = writer.write(header); !status) return std::unexpected(status.error());
  return writer;
}

Status BundleWriter::write(Bytes bytes) {
  hasher_.update(bytes);
  written_ += bytes.size();
  if (const FsStatus written = file_->write(bytes); !written) return failed(written.error());
  return {};
}

// Opened once: a running server may remove the file meanwhile, which an open file survives.
Status BundleWriter::add(const std::string& path, const BlobKey& key) {
  const auto file = fs_->open(path);
  if (!file) return failed(file.error());
  auto header = read_header(**file, path);
  if (!header) return std::unexpected(header.error());
  const auto& [blob, bytes] = *header;
  if (blob.header.kind != key.kind || blob.header.identity != key.identity) {
    return bad_blob(path, "its name is that of another blob");
  }
  if (auto status = begin_record(key, blob.file_bytes(), bytes); !status) return status;
  const std::uint64_t payload = blob.header.payload_bytes;
  std::vector<std::uint8_t> buffer(std::min<std::uint64_t>(blob.chunk_bytes, payload));
  for (std::size_t i = 0; i < blob.chunks.size(); ++i) {
    const std::uint64_t offset = std::uint64_t{i} * blob.chunk_bytes;
    const auto chunk =
        MutableBytes(buffer).first(std::min<std::uint64_t>(blob.chunk_bytes, payload - offset));
    if (auto status = fill(**file, path, blob.header_bytes + offset, chunk); !status) return status;
    if (checksum(chunk) != blob.chunks[i]) return bad_blob(path, "its payload is damaged");
    if (auto status = write(chunk); !status) return status;
  }
  ++blobs_;
  blob_bytes_ += blob.file_bytes();
  return {};
}

Status BundleWriter::begin_record(const BlobKey& key, std::uint64_t file_bytes, Bytes header) {
  const std::string name = blob_name(key.kind, key.identity);
  std::array<std::uint8_t, kBundleRecordBytes> record{};
  std::ranges::copy(kBlobTag, record.begin());
  store_le(record.data() + kNameBytes, static_cast<std::uint32_t>(name.size()));
  store_le(record.data() + kFileBytes, file_bytes);
  Status status = write(record);
  if (status) status = write({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
  return status ? write(header) : status;
}

Status BundleWriter::finish() {
  std::array<std::uint8_t, kBundleEndBytes> record{};
  std::ranges::copy(kEndTag, record.begin());
  store_le(record.data() + kBlobs, blobs_);
  store_le(record.data() + kBlobBytes, blob_bytes_);
  if (auto status = write(Bytes(record).first(kDigest)); !status) return status;
  std::ranges::copy(hasher_.digest(), record.begin() + kDigest);
  if (auto status = write(Bytes(record).subspan(kDigest)); !status) return status;
  if (const FsStatus synced = file_->sync(); !synced) return failed(synced.error());
  return {};
}

}  // namespace samovar
