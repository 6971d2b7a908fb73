#include "tests/support/sim_faults.h"

namespace samovar {

std::string_view verb_of(FsOp op) {
  static constexpr std::array<std::string_view, kFsOps> verbs = {"open",
                                                                 "create",
                                                                 "write",
                                                                 "sync",
                                                                 "read",
                                                                 "rename",
                                                                 "remove",
                                                                 "touch",
                                                                 "make folder",
                                                                 "sync folder",
                                                                 "list",
                                                                 "look at",
                                                                 "ask for the space of",
                                                                 "lock"};
  return verbs[static_cast<std::size_t>(op)];
}

std::string_view reason_of(FsFault fault) {
  switch (fault) {
    case FsFault::not_found:
      return "No such file or directory";
    case FsFault::exists:
      return "File exists";
    case FsFault::full:
      return "No space left on device";
    case FsFault::read_only:
      return "Read-only file system";
    case FsFault::denied:
      return "Permission denied";
    case FsFault::io:
      return "Input/output error";
    case FsFault::other:
      break;
  }
  return "Unknown error";
}

bool changes_disk(FsOp op) {
  switch (op) {
    case FsOp::open:
    case FsOp::read:
    case FsOp::list:
    case FsOp::stat:
    case FsOp::space:
    case FsOp::make_directory:  // fine on a read-only disk if the folder is there
    case FsOp::sync_directory:  // fine if there is nothing to sync
      return false;
    default:
      return true;
  }
}

std::optional<SimFaults::Rule> SimFaults::next(FsOp op) {
  ++calls_[static_cast<std::size_t>(op)];
  std::optional<Rule> met;
  for (Rule& rule : rules_) {
    if (rule.op != op || rule.times == 0) continue;
    if (rule.after > 0) {
      --rule.after;
    } else if (!met) {
      --rule.times;
      met = rule;
    }
  }
  return met;
}

}  // namespace samovar
