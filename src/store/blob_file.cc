#include "store/blob_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>

namespace samovar {
namespace {

using Kind = BlobReadError::Kind;

std::unexpected<BlobReadError> fail_read(Kind kind, std::string message) {
  return std::unexpected(BlobReadError{kind, std::move(message)});
}

std::unexpected<BlobReadError> damaged(const std::string& path, const std::string& what) {
  return fail_read(Kind::damaged, path + ": " + what);
}

std::unexpected<BlobReadError> of_format(const std::string& path, const BlobError& error) {
  const bool newer = error.fault == BlobFault::unknown_version;
  return fail_read(newer ? Kind::unknown_version : Kind::damaged, path + ": " + error.message);
}

// Adds the time from construction to destruction.
class Stopwatch {
 public:
  Stopwatch(const Clock& clock, Micros& total)
      : clock_(clock), total_(total), start_(clock.now()) {}
  ~Stopwatch() { total_ += clock_.now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Clock& clock_;
  Micros& total_;
  const Micros start_;
};

// One file being read: every byte is read at its place or the whole read fails.
class BlobReader {
 public:
  static std::expected<BlobReader, BlobReadError> open(Fs& fs, const std::string& path,
                                                       const Clock& clock, BlobTimes& times) {
    auto file = fs.open(path);
    if (file) return BlobReader(path, std::move(*file), clock, times);
    const bool missing = file.error().fault == FsFault::not_found;
    return fail_read(missing ? Kind::missing : Kind::unreadable, file.error().message);
  }

  std::expected<DecodedBlob, BlobReadError> header() {
    // No header is shorter than this, and few are longer.
    std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(kBlobAlignment, file_->size()));
    if (auto read = fill(0, bytes); !read) return std::unexpected(read.error());
    const auto size = blob_header_bytes(bytes);
    if (!size) return of_format(path_, size.error());
    if (*size > file_->size()) return wrong_size(*size);
    const std::size_t start = bytes.size();
    bytes.resize(*size);
    if (auto read = fill(start, MutableBytes(bytes).subspan(start)); !read) {
      return std::unexpected(read.error());
    }
    const Stopwatch watch(clock_, times_.verify);
    auto blob = decode_blob_header(bytes);
    if (!blob) return of_format(path_, blob.error());
    if (blob->file_bytes() != file_->size()) return wrong_size(blob->file_bytes());
    return std::move(*blob);
  }

  // Chunk `index` into `place`, which has its size; verified while the processor still has it in
  // its cache.
  std::expected<void, BlobReadError> chunk(const DecodedBlob& blob, std::size_t index,
                                           MutableBytes place) {
    const std::uint64_t offset = std::uint64_t{index} * blob.chunk_bytes;
    if (auto read = fill(blob.header_bytes + offset, place); !read) return read;
    const Stopwatch watch(clock_, times_.verify);
    if (checksum(place) == blob.chunks[index]) return {};
    return damaged(path_, fmt::format("bytes [{}, {}) of the payload are not those written", offset,
                                      offset + place.size()));
  }

 private:
  BlobReader(const std::string& path, std::unique_ptr<FileReader> file, const Clock& clock,
             BlobTimes& times)
      : path_(path), file_(std::move(file)), clock_(clock), times_(times) {}

  std::expected<void, BlobReadError> fill(std::uint64_t offset, MutableBytes into) {
    if (into.empty()) return {};
    const Stopwatch watch(clock_, times_.read);
    const auto read = file_->read_at(offset, into);
    if (!read) return fail_read(Kind::unreadable, read.error().message);
    if (*read == into.size()) return {};
    return damaged(path_, fmt::format("ends at byte {}", offset + *read));
  }

  std::unexpected<BlobReadError> wrong_size(std::uint64_t expected) const {
    return damaged(path_, fmt::format("{} bytes long, its header says {}{}", file_->size(),
                                      expected > file_->size() ? "at least " : "", expected));
  }

  const std::string& path_;
  std::unique_ptr<FileReader> file_;
  const Clock& clock_;
  BlobTimes& times_;
};

// What of `header` is not as expected; null if everything is.
const char* mismatch(const BlobHeader& header, const BlobExpectation& expected) {
  if (header.kind != expected.kind) return "its kind is another";
  if (header.model != expected.model) return "it belongs to another model";
  if (header.layout != expected.layout) return "its payload is laid out differently";
  if (header.begin != expected.begin || header.end != expected.end) {
    return "it holds other positions";
  }
  if (header.parent != expected.parent) return "it follows another prefix";
  if (!std::ranges::equal(header.tokens, expected.tokens)) return "it holds other tokens";
  if (header.identity != expected.identity) return "its identity is another";
  return nullptr;
}

std::expected<DecodedBlob, BlobReadError> read_verified(BlobReader& reader, const std::string& path,
                                                        const BlobExpectation& expected,
                                                        Buffer& into) {
  auto blob = reader.header();
  if (!blob) return blob;
  if (const char* what = mismatch(blob->header, expected)) return damaged(path, what);
  const std::uint64_t payload = blob->header.payload_bytes;
  if (payload > into.capacity()) {
    return damaged(path, fmt::format("a payload of {} bytes, at most {} were expected", payload,
                                     into.capacity()));
  }
  into.resize(payload);
  for (std::size_t i = 0; i < blob->chunks.size(); ++i) {
    const std::size_t begin = i * blob->chunk_bytes;
    const std::size_t size = std::min<std::size_t>(blob->chunk_bytes, payload - begin);
    const auto chunk = reader.chunk(*blob, i, into.writable().subspan(begin, size));
    if (!chunk) return std::unexpected(chunk.error());
  }
  return blob;
}

// Runs `work` and tells `pace` how long it took.
template <class Work>
auto paced(const Pace& pace, const Clock& clock, const Work& work) {
  const Micros start = clock.now();
  auto result = work();
  if (pace) pace(clock.now() - start);
  return result;
}

FsStatus write_all(FileWriter& file, const BlobToWrite& blob, const Pace& pace,
                   const Clock& clock) {
  const auto piece = [&](std::size_t begin) {
    return blob.payload.subspan(
        begin, std::min<std::size_t>(kBlobChunkBytes, blob.payload.size() - begin));
  };
  std::vector<Checksum> chunks;
  for (std::size_t begin = 0; begin < blob.payload.size(); begin += kBlobChunkBytes) {
    chunks.push_back(paced(pace, clock, [&] { return checksum(piece(begin)); }));
  }
  const auto header = encode_blob_header(blob.header, chunks, kBlobChunkBytes);
  if (auto written = paced(pace, clock, [&] { return file.write(header); }); !written) {
    return written;
  }
  for (std::size_t begin = 0; begin < blob.payload.size(); begin += kBlobChunkBytes) {
    auto written = paced(pace, clock, [&] { return file.write(piece(begin)); });
    if (!written) return written;
  }
  return file.sync();
}

}  // namespace

FsStatus write_blob(Fs& fs, const std::string& temporary, const BlobToWrite& blob, const Pace& pace,
                    const Clock& clock) {
  assert(blob.header.payload_bytes == blob.payload.size());
  auto file = fs.create(temporary);
  if (!file) return std::unexpected(file.error());
  FsStatus status = write_all(**file, blob, pace, clock);
  file->reset();
  if (!status) {
    [[maybe_unused]] const FsStatus removed = fs.remove(temporary);  // the first fault matters
  }
  return status;
}

std::expected<DecodedBlob, BlobReadError> read_blob_header(Fs& fs, const std::string& path) {
  BlobTimes times;
  auto reader = BlobReader::open(fs, path, system_clock(), times);
  if (!reader) return std::unexpected(reader.error());
  return reader->header();
}

std::expected<DecodedBlob, BlobReadError> read_blob(Fs& fs, const std::string& path,
                                                    const BlobExpectation& expected, Buffer& into,
                                                    const Clock& clock, BlobTimes& times) {
  into.resize(0);
  auto reader = BlobReader::open(fs, path, clock, times);
  if (!reader) return std::unexpected(reader.error());
  auto blob = read_verified(*reader, path, expected, into);
  if (!blob) into.resize(0);
  return blob;
}

std::expected<DecodedBlob, BlobReadError> verify_blob(Fs& fs, const std::string& path) {
  BlobTimes times;
  auto reader = BlobReader::open(fs, path, system_clock(), times);
  if (!reader) return std::unexpected(reader.error());
  auto blob = reader->header();
  if (!blob) return blob;
  const std::uint64_t payload = blob->header.payload_bytes;
  std::vector<std::uint8_t> buffer(std::min<std::uint64_t>(blob->chunk_bytes, payload));
  for (std::size_t i = 0; i < blob->chunks.size(); ++i) {
    const std::uint64_t begin = std::uint64_t{i} * blob->chunk_bytes;
    const std::size_t size = std::min<std::uint64_t>(blob->chunk_bytes, payload - begin);
    const auto chunk = reader->chunk(*blob, i, MutableBytes(buffer).first(size));
    if (!chunk) return std::unexpected(chunk.error());
  }
  return blob;
}

}  // namespace samovar
