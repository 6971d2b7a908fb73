#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "base/little_endian.h"
#include "store/bundle_layout.h"

namespace samovar {

using namespace bundle_layout;

namespace {

bool all_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

template <std::size_t N>
bool begins_with(Bytes bytes, const std::array<std::uint8_t, N>& tag) {
  return std::ranges::equal(bytes.first(N), tag);
}

}  // namespace

std::unexpected<Error> BundleReader::refuse(const std::string& what) const {
  return fail(ErrorKind::invalid_argument, fmt::format("{}: {}", path_, what), "",
              "Nothing was taken in. Copy the file again, or export again");
}

Result<BundleReader> BundleReader::open(Fs& fs, std::string path) {
  auto file = fs.open(path);
  if (!file) return fail(ErrorKind::not_found, file.error().message, "FILE", "Check the path");
  BundleReader reader(std::move(path), std::move(*file));
  std::array<std::uint8_t, kBundleHeaderBytes> header{};
  const auto start =
      MutableBytes(header).first(std::min<std::uint64_t>(reader.size(), kBundleHeaderBytes));
  if (auto status = reader.read(start); !status) return std::unexpected(status.error());
  if (!begins_with(header, kMagic)) return reader.refuse("this is not a bundle");
  const auto version = load_le<std::uint16_t>(header.data() + kVersion);
  if (version > kBundleVersion) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: a bundle of version {}, this Samovar reads {}", reader.path_,
                            version, kBundleVersion),
                "", "Update Samovar");
  }
  const Bytes bytes(header);
  const bool right = start.size() == kBundleHeaderBytes && version == kBundleVersion &&
                     all_zero(bytes.subspan(kVersion + 2, kCreated - kVersion - 2)) &&
                     load_le<std::int64_t>(header.data() + kCreated) >= 0 &&
                     all_zero(bytes.subspan(kCreated + 8));
  if (!right) return reader.refuse("its header is damaged");
  return reader;
}

Status BundleReader::read(MutableBytes into) {
  if (into.size() > left()) return refuse("it is cut off: its end is missing");
  const auto read = file_->read_at(at_, into);
  if (!read) return fail(ErrorKind::internal, read.error().message);
  if (*read != into.size()) return refuse("it became shorter while it was read");
  hasher_.update(into);
  at_ += into.size();
  return {};
}

Result<std::optional<DecodedBlob>> BundleReader::next() {
  if (current_) return refuse("a blob was skipped");
  std::array<std::uint8_t, kBundleRecordBytes> record{};
  if (auto status = read(record); !status) return std::unexpected(status.error());
  if (begins_with(record, kEndTag)) return end(record);
  if (!begins_with(record, kBlobTag)) {
    return refuse(fmt::format("damaged before byte {}: no record", at_));
  }
  auto decoded = blob(record);
  if (!decoded) return std::unexpected(decoded.error());
  current_ = *decoded;
  ++blobs_;
  blob_bytes_ += decoded->file_bytes();
  return std::move(*decoded);
}

Result<std::optional<DecodedBlob>> BundleReader::end(Bytes record) {
  std::array<std::uint8_t, kBundleEndBytes> end{};
  std::ranges::copy(record, end.begin());
  const MutableBytes rest = MutableBytes(end).subspan(record.size());
  const std::size_t counts = kDigest - record.size();
  if (auto status = read(rest.first(counts)); !status) return std::unexpected(status.error());
  const Sha256 digest = hasher_.digest();
  if (auto status = read(rest.subspan(counts)); !status) return std::unexpected(status.error());
  const bool counted = load_le<std::uint64_t>(end.data() + kBlobs) == blobs_ &&
                       load_le<std::uint64_t>(end.data() + kBlobBytes) == blob_bytes_;
  const bool same = std::ranges::equal(Bytes(end).subspan(kDigest), digest);
  const bool zeros = all_zero(Bytes(end).subspan(4, kBlobs - 4)) &&
                     all_zero(Bytes(end).subspan(kBlobBytes + 8, kDigest - kBlobBytes - 8));
  if (!same || !zeros) return refuse("damaged: its checksum is wrong");
  if (!counted) return refuse("damaged: it holds other blobs than its end says");
  if (left() > 0) return refuse(fmt::format("damaged: {} bytes follow its end", left()));
  return std::nullopt;
}

Result<DecodedBlob> BundleReader::blob(Bytes record) {
  const auto name_bytes = load_le<std::uint32_t>(record.data() + kNameBytes);
  const auto file_bytes = load_le<std::uint64_t>(record.data() + kFileBytes);
  const std::uint64_t start = at_;
  const auto damaged = [&](std::string_view what) {
    return refuse(fmt::format("damaged at byte {}: {}", start, what));
  };
  if (name_bytes == 0 || name_bytes > kNameMax) return damaged("the name of a blob is too long");
  std::string name(name_bytes, '\0');
  if (auto status = read({reinterpret_cast<std::uint8_t*>(name.data()), name.size()}); !status) {
    return std::unexpected(status.error());
  }
  const auto named = parse_blob_name(name);
  if (!named) return damaged("this is no name of a blob");
  if (file_bytes > left()) return refuse("it is cut off: its end is missing");
  header_.resize(std::min<std::uint64_t>(file_bytes, kBlobFixedBytes));
  if (auto status = read(header_); !status) return std::unexpected(status.error());
  const auto size = blob_header_bytes(header_);
  if (!size && size.error().fault == BlobFault::unknown_version) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: {}: {}", path_, name, size.error().message), "",
                "It was written by a newer Samovar: update");
  }
  if (!size) return damaged(name + ": " + size.error().message);
  if (*size > file_bytes) return damaged(name + ": its header is cut off");
  const std::size_t fixed = header_.size();
  header_.resize(*size);
  if (auto status = read(MutableBytes(header_).subspan(fixed)); !status) {
    return std::unexpected(status.error());
  }
  auto decoded = decode_blob_header(header_);
  if (!decoded) return damaged(name + ": " + decoded.error().message);
  if (decoded->file_bytes() != file_bytes) return damaged(name + ": its length is another");
  const BlobHeader& header = decoded->header;
  if (header.kind != named->kind || header.identity != named->identity) {
    return damaged(name + ": its name is that of another blob");
  }
  return std::move(*decoded);
}

Status BundleReader::copy(const Take& take) {
  if (!current_) return {};
  const DecodedBlob blob = std::move(*current_);
  current_.reset();
  const auto pass = [&](Bytes bytes) -> Status {
    const FsStatus taken = take ? take(bytes) : FsStatus();
    if (taken) return {};
    return fail(ErrorKind::internal, taken.error().message, "", "Nothing was taken in");
  };
  if (auto status = pass(header_); !status) return status;
  const std::uint64_t payload = blob.header.payload_bytes;
  std::vector<std::uint8_t> buffer(std::min<std::uint64_t>(blob.chunk_bytes, payload));
  for (std::size_t i = 0; i < blob.chunks.size(); ++i) {
    const std::uint64_t offset = std::uint64_t{i} * blob.chunk_bytes;
    const auto chunk =
        MutableBytes(buffer).first(std::min<std::uint64_t>(blob.chunk_bytes, payload - offset));
    if (auto status = read(chunk); !status) return status;
    if (checksum(chunk) != blob.chunks[i]) {
      return refuse(fmt::format("damaged: {} is not what was written",
                                blob_name(blob.header.kind, blob.header.identity)));
    }
    if (auto status = pass(chunk); !status) return status;
  }
  return {};
}

}  // namespace samovar
