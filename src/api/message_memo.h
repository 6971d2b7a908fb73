// MessageMemo: messages of requests by their JSON text, so that a conversation that comes again
// with one message more costs the parsing of that one. Keyed by the whole text and compared in
// full, so a hit is exact; only messages without any problem are kept. Least recently used ones go
// when the memory bound is reached. Owned by a dialect (the same text
// means different things in different ones), shared by all HTTP threads (own lock;
// parsing happens outside it). Cannot fail.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/chat.h"

namespace samovar {

// What one element of a request's `messages` says: in some dialects several messages of ours.
using ParsedMessages = std::vector<ChatMessage>;

class MessageMemo {
 public:
  // Some 50 conversations of 100k tokens.
  static constexpr std::size_t kBytes = std::size_t{64} << 20;

  explicit MessageMemo(std::size_t bytes_max = kBytes) : bytes_max_(bytes_max) {}

  // nullptr: not known.
  [[nodiscard]] std::shared_ptr<const ParsedMessages> find(std::string_view json);

  void add(std::string_view json, std::shared_ptr<const ParsedMessages> messages);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::string json;
    std::shared_ptr<const ParsedMessages> messages;
    [[nodiscard]] std::size_t bytes() const { return 2 * json.size() + 512; }  // 512: nodes, fields
  };
  using Recency = std::list<Entry>;  // most recently used first

  const std::size_t bytes_max_;

  mutable std::mutex mutex_;  // guards all below
  Recency entries_;
  std::unordered_map<std::string_view, Recency::iterator> index_;  // keys point into entries_
  std::size_t bytes_ = 0;
};

}  // namespace samovar
