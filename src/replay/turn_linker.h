// TurnLinker: finds the turn that a request follows, among those seen before, and says of the
// request only what is new: requests with their whole history become turns of a trace. The recorder
// and the import use it. Keeps hashes and the last replies, no histories, of a bounded number of
// turns. One thread. Nothing fails: a request whose past is not known is written whole.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "base/hash.h"
#include "replay/trace.h"

namespace samovar::replay {

// A request and what became of it. Times are milliseconds since the trace began.
struct WholeTurn {
  std::string id;
  std::string session;
  std::string dialect;
  std::int64_t arrived_ms = 0;
  std::int64_t ended_ms = 0;
  bool streamed = true;
  const ChatRequest* request = nullptr;
  TraceSettings settings;  // of the request, all of them
  std::optional<TraceReply> reply;
  TraceFigures figures;
};

class TurnLinker {
 public:
  struct Limits {
    std::size_t turns = 512;
    std::size_t messages = std::size_t{1} << 20;  // of all of them together
  };
  TurnLinker() = default;
  explicit TurnLinker(Limits limits) : limits_(limits) {}

  [[nodiscard]] TraceTurn link(WholeTurn turn);

  // What was written is not there: nothing may follow it.
  void forget();

 private:
  struct Seen {
    std::string id;
    std::string session;
    std::int64_t ended_ms = 0;
    std::vector<Checksum> prefixes;  // of the messages up to each
    std::size_t first_user = 0;      // messages up to the first one of a user
    std::optional<TraceReply> reply;
    Checksum tools;
    Checksum settings;
  };
  struct Place {
    const Seen* seen = nullptr;
    std::size_t keep = 0;
    Returned returned = Returned::no;
  };

  [[nodiscard]] Place find(const WholeTurn& turn, const std::vector<Checksum>& prefixes) const;
  void remember(Seen seen);

  Limits limits_;
  std::list<Seen> seen_;  // newest first
  std::size_t messages_ = 0;
};

// Whether a message is the reply that a server gave, in the words of its client.
[[nodiscard]] Returned returns(const ChatMessage& message, const TraceReply& reply);

}  // namespace samovar::replay
