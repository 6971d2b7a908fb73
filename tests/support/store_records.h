// Records of the store for tests: what a segment's or a snapshot's header would say. Values.
#pragma once

#include <random>

#include "store/blob_record.h"

namespace samovar::testing {

inline constexpr std::int64_t kNow = 1'700'000'000;
inline constexpr std::uint64_t kBytesPerToken = 24'000;
inline constexpr std::uint64_t kSnapshotBytes = 150'000'000;
inline constexpr Micros kCostPerToken = 1000;

inline Fingerprint model_named(char name) {
  Fingerprint model;
  model.bytes.fill(static_cast<std::uint8_t>(name));
  return model;
}

inline SessionId session_of(int number) {
  SessionId session;
  session.bytes[0] = static_cast<std::uint8_t>(number);
  session.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  return session;
}

inline Tokens random_tokens(std::uint32_t seed, std::size_t size, Token vocabulary = 50'000) {
  std::mt19937 random(seed);
  Tokens tokens(size);
  for (Token& token : tokens) {
    token = static_cast<Token>(random() % static_cast<std::uint32_t>(vocabulary));
  }
  return tokens;
}

// The segment [begin, end) of `prompt` behind `parent`.
inline BlobRecord segment_of(const Fingerprint& model, const Identity& parent, TokenSpan prompt,
                             Position begin, Position end) {
  BlobRecord record;
  record.model = model;
  record.parent = parent;
  record.begin = begin;
  record.end = end;
  record.identity = identity_of(
      model, parent,
      prompt.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  record.payload_bytes = static_cast<std::uint64_t>(end - begin) * kBytesPerToken;
  record.file_bytes = record.payload_bytes + 4096;
  record.cost = (end - begin) * kCostPerToken;
  record.created = kNow - 3600;
  record.last_used = kNow - 60;
  return record;
}

inline BlobRecord snapshot_of(const BlobRecord& segment, AnchorKind anchor = AnchorKind::message,
                              SessionId session = {}) {
  BlobRecord record = segment;
  record.kind = BlobKind::snapshot;
  record.payload_bytes = kSnapshotBytes;
  record.file_bytes = record.payload_bytes + 4096;
  record.anchor = anchor;
  record.session = session;
  return record;
}

inline BlobKey key_of(const BlobRecord& record) { return {record.kind, record.identity}; }

// Segments of `prompt` cut at `ends`, from token 0.
inline std::vector<BlobRecord> line_of(const Fingerprint& model, TokenSpan prompt,
                                       const std::vector<Position>& ends) {
  std::vector<BlobRecord> line;
  Identity parent;
  Position begin = 0;
  for (const Position end : ends) {
    line.push_back(segment_of(model, parent, prompt, begin, end));
    parent = line.back().identity;
    begin = end;
  }
  return line;
}

}  // namespace samovar::testing
