#include "ledger/turn_record.h"

namespace samovar {

const char* to_string(TurnStatus status) {
  switch (status) {
    case TurnStatus::running:
      return "running";
    case TurnStatus::complete:
      return "complete";
    case TurnStatus::incomplete:
      return "incomplete";
    case TurnStatus::failed:
      return "failed";
  }
  return "unknown";
}

}  // namespace samovar
