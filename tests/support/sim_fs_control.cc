// What tests do to a SimFs, and what they ask it.
#include <cassert>
#include <utility>

#include "tests/support/sim_fs.h"

namespace samovar {

void SimFs::crash(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  ++life_;
  disk_.crash(seed);
}

void SimFs::kill_process() {
  const std::lock_guard lock(mutex_);
  ++life_;
}

void SimFs::sync_all() {
  const std::lock_guard lock(mutex_);
  disk_.sync_all();
}

void SimFs::fail_next(Op op, FsFault fault, std::uint64_t after, std::uint64_t times) {
  const std::lock_guard lock(mutex_);
  faults_.add({.op = op, .fault = fault, .after = after, .times = times});
}

void SimFs::shorten_write(std::uint64_t stored, std::uint64_t after) {
  const std::lock_guard lock(mutex_);
  faults_.add({.op = Op::write, .part = stored, .after = after});
}

void SimFs::shorten_read(std::uint64_t given, std::uint64_t after) {
  const std::lock_guard lock(mutex_);
  faults_.add({.op = Op::read, .part = given, .after = after});
}

void SimFs::clear_faults() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
  hook_ = nullptr;
}

void SimFs::set_hook(Hook hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void SimFs::set_read_only(bool read_only) {
  const std::lock_guard lock(mutex_);
  read_only_ = read_only;
}

void SimFs::set_disk_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  disk_.set_capacity(bytes);
}

void SimFs::flip_bit(const std::string& path, std::uint64_t bit) {
  const std::lock_guard lock(mutex_);
  const SimNodePtr file = disk_.find(path);
  assert(file && bit / 8 < file->bytes.size());
  file->bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
}

void SimFs::truncate(const std::string& path, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const SimNodePtr file = disk_.find(path);
  assert(file && !file->directory);
  disk_.truncate(*file, static_cast<std::size_t>(bytes));
}

void SimFs::write_raw(const std::string& path, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  disk_.write_raw(path, bytes, clock_.wall_seconds());
}

void SimFs::remove_tree(const std::string& path) {
  const std::lock_guard lock(mutex_);
  disk_.remove_tree(path);
}

std::optional<std::vector<std::uint8_t>> SimFs::read_raw(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const SimNodePtr file = disk_.find(path);
  if (!file || file->directory) return std::nullopt;
  return file->bytes;
}

std::vector<std::string> SimFs::paths() const {
  const std::lock_guard lock(mutex_);
  return disk_.paths();
}

std::uint64_t SimFs::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return disk_.used();
}

std::uint64_t SimFs::calls(Op op) const {
  const std::lock_guard lock(mutex_);
  return faults_.calls(op);
}

std::uint64_t SimFs::written_bytes() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

std::uint64_t SimFs::read_bytes() const {
  const std::lock_guard lock(mutex_);
  return read_;
}

Micros SimFs::spent() const {
  const std::lock_guard lock(mutex_);
  return static_cast<Micros>(spent_);
}

}  // namespace samovar
