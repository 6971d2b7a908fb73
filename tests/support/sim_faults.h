// SimFaults: which of the coming operations of a SimFs fail, and how often each was called. One
// thread at a time (SimFs's mutex).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fs/fs.h"

namespace samovar {

enum class FsOp {
  open,
  create,
  write,
  sync,
  read,
  rename,
  remove,
  touch,
  make_directory,
  sync_directory,
  list,
  stat,
  space,
  lock,
};
inline constexpr std::size_t kFsOps = 14;

[[nodiscard]] std::string_view verb_of(FsOp op);          // as PosixFs says it
[[nodiscard]] std::string_view reason_of(FsFault fault);  // as the system says it
[[nodiscard]] bool changes_disk(FsOp op);                 // whatever it finds

class SimFaults {
 public:
  struct Rule {
    FsOp op = FsOp::write;
    std::optional<FsFault> fault;
    std::optional<std::uint64_t> part;  // of a read or write: this much is done first
    std::uint64_t after = 0;            // calls that pass before
    std::uint64_t times = 1;            // calls that it meets
  };
  void add(const Rule& rule) { rules_.push_back(rule); }
  void clear() { rules_.clear(); }

  // Counts a call; the rule that it meets.
  std::optional<Rule> next(FsOp op);
  [[nodiscard]] std::uint64_t calls(FsOp op) const { return calls_[static_cast<std::size_t>(op)]; }

 private:
  std::vector<Rule> rules_;
  std::array<std::uint64_t, kFsOps> calls_ = {};
};

}  // namespace samovar
