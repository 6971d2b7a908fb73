// ComputeShare: the fairness rule between prefill and decode.
//
// While replies are running and prompts are waiting to be computed, engine time is shared:
// replies get `decode_share` of it (a little over a half by default). One prefill call takes as
// long as it takes (its size is fixed by the canonical splits); then decode steps run until they
// have had their share, then the next prefill call. So a long prefill slows a running reply to
// no less than `decode_share` of its rate, and a running reply slows a prefill to no less than 1
// - decode_share of its own. The account is opened when both are present and closed when either
// is gone: nobody saves time up.
//
// Among prompts, the one with the fewest tokens left goes first, so that a short follow-up does
// not wait for a long prompt; every fourth call goes to the one that came first, so that the
// long one does not starve.
#pragma once

#include "base/clock.h"

namespace samovar {

class ComputeShare {
 public:
  explicit ComputeShare(double decode_share) : decode_share_(decode_share) {}

  [[nodiscard]] bool decode_is_next(bool can_prefill, bool can_decode) {
    if (!can_prefill || !can_decode) {
      prefill_ = decode_ = 0;
      return can_decode;
    }
    return static_cast<double>(decode_) * (1.0 - decode_share_) <=
           static_cast<double>(prefill_) * decode_share_;
  }
  [[nodiscard]] bool oldest_is_next() { return ++prefill_calls_ % 4 == 0; }

  void charge_prefill(Micros time) { prefill_ += time; }
  void charge_decode(Micros time) { decode_ += time; }

 private:
  double decode_share_;
  Micros prefill_ = 0;
  Micros decode_ = 0;
  unsigned prefill_calls_ = 0;
};

}  // namespace samovar
