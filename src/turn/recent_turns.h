// RecentTurns: the shapes of the last turns, among which the one before a turn is found. Texts and
// tokens are kept with the newest of them only, within a bound of bytes.
// Any thread (own lock; comparing happens outside it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "explain/explanation.h"
#include "explain/turn_shape.h"

namespace samovar {

class RecentTurns {
 public:
  explicit RecentTurns(std::size_t turns_max = 256, std::size_t text_bytes_max = 64U << 20)
      : turns_max_(turns_max), text_bytes_max_(text_bytes_max) {}

  struct Entry {
    std::shared_ptr<const TurnShape> shape;
    std::string session;              // as the ledger names it
    bool same_run = true;             // not loaded from an earlier run\'s ledger
    std::optional<Explanation> miss;  // with texts
    std::size_t bytes = 0;            // of texts and tokens
  };

  // Replaces an earlier shape of the same turn.
  void add(std::shared_ptr<const TurnShape> shape, std::string session,
           std::optional<Explanation> miss = {}, bool same_run = true);

  // Newest first.
  [[nodiscard]] std::vector<Entry> all() const;

  [[nodiscard]] std::optional<Explanation> miss_of(const std::string& id) const;

  void forget_turn(const std::string& id);
  void forget_session(const std::string& session);

 private:
  void drop_texts();

  const std::size_t turns_max_;
  const std::size_t text_bytes_max_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;   // guarded by mutex_; newest first
  std::size_t text_bytes_ = 0;  // guarded by mutex_
};

}  // namespace samovar
