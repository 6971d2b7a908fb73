#include "core/turn.h"

namespace samovar {

const char* to_string(ReuseSource source) {
  switch (source) {
    case ReuseSource::none:
      return "none";
    case ReuseSource::live:
      return "live";
    case ReuseSource::anchor:
      return "anchor";
    case ReuseSource::fork:
      return "fork";
    case ReuseSource::store:
      return "store";
  }
  return "none";
}

}  // namespace samovar
