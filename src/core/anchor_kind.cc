#include "core/anchor_kind.h"

namespace samovar {

const char* to_string(AnchorKind kind) {
  switch (kind) {
    case AnchorKind::system:
      return "system";
    case AnchorKind::message:
      return "message";
    case AnchorKind::grid:
      return "grid";
    case AnchorKind::history_end:
      return "history end";
    case AnchorKind::reply_end:
      return "reply end";
    case AnchorKind::divergence:
      return "divergence";
  }
  return "message";
}

}  // namespace samovar
