// ReplyMemory: the replies that were sampled, found again by the messages before them
// (dialogue_key.h) or by the id of one of their tool calls. Bounded by bytes; what was found or
// remembered least recently goes first, so the replies of conversations that go on stay.
// Thread-safe (own lock). Cannot fail.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "chat/sampled_reply.h"

namespace samovar {

// Where ChatFormat::render() looks for replies. Thread-safe.
class ReplySource {
 public:
  using Reply = std::shared_ptr<const SampledReply>;

  virtual ~ReplySource() = default;

  // What was sampled after the messages that `context` names, newest first.
  virtual std::vector<Reply> find(const Sha256& context) = 0;

  // The reply with the call that a client was told as `call_id`; null if unknown.
  virtual Reply find_call(std::string_view call_id) = 0;
};

class ReplyMemory final : public ReplySource {
 public:
  explicit ReplyMemory(std::size_t bytes_max = std::size_t{64} << 20) : bytes_max_(bytes_max) {}

  // `call_ids` are those the client was sent. The same tokens at the same place are kept once, and
  // no more than kPerContext replies at one place. A reply larger than a quarter of the memory is
  // not kept, nor one that cannot be replayed.
  void remember(const Sha256& context, const std::vector<std::string>& call_ids, Reply reply);

  std::vector<Reply> find(const Sha256& context) override;
  Reply find_call(std::string_view call_id) override;

  // All replies at one place, or everything.
  void forget(const Sha256& context);
  void clear();

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t size() const;

  static constexpr std::size_t kPerContext = 8;

 private:
  struct Entry {
    Sha256 context;
    std::vector<std::string> call_ids;
    Reply reply;
    std::size_t bytes = 0;
    [[nodiscard]] std::size_t measure() const;
  };
  using Recency = std::list<Entry>;  // most recently used first

  void erase(Recency::iterator entry);
  void touch(Recency::iterator entry) { entries_.splice(entries_.begin(), entries_, entry); }

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // guards all below
  Recency entries_;
  std::map<Sha256, std::vector<Recency::iterator>> by_context_;  // newest first, none empty
  std::map<std::string, Recency::iterator, std::less<>> by_call_;
  std::size_t bytes_ = 0;
};

}  // namespace samovar
