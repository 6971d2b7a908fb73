// StoreFamily: who stands on whom among some records, for the command line: what a session or an
// entry needs, what needs it, and what an id means. Borrows the records, which must not change.
// Values; any thread. Errors are written for the person who typed the id.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "store/blob_record.h"

namespace samovar {

[[nodiscard]] inline BlobKey key_of(const BlobRecord& record) {
  return {record.kind, record.identity};
}

class StoreFamily {
 public:
  explicit StoreFamily(const std::vector<BlobRecord>& records);

  [[nodiscard]] const BlobRecord* segment(const Identity& node) const;
  [[nodiscard]] const BlobRecord* snapshot(const Identity& node) const;

  // The segments that end at `node`, longest first, as far back as they are there.
  [[nodiscard]] std::vector<const BlobRecord*> before(const Identity& node) const;
  // The same from token 0 on; empty if one is missing.
  [[nodiscard]] std::vector<const BlobRecord*> chain(const Identity& node) const;

  // These and everything that cannot be used without one of them.
  [[nodiscard]] std::vector<BlobKey> with_dependants(const std::vector<BlobKey>& keys) const;

  // What `session` wrote and nothing that others wrote stands on.
  [[nodiscard]] std::vector<BlobKey> only_for(const SessionId& session) const;

  // What `session` wrote, with the segments before it, in an order in which it can be published: a
  // chain from token 0, each segment before what stands on it. What has no whole chain is left out.
  [[nodiscard]] std::vector<const BlobRecord*> chains_of(const SessionId& session) const;

  // Nodes of `session` that nothing of it stands behind.
  [[nodiscard]] std::vector<Identity> tips(const SessionId& session) const;

 private:
  struct Node {
    const BlobRecord* segment = nullptr;
    const BlobRecord* snapshot = nullptr;
    std::vector<const BlobRecord*> children;  // segments that begin here
  };
  [[nodiscard]] const Node* node(const Identity& identity) const;

  const std::vector<BlobRecord>& records_;
  std::unordered_map<Identity, Node, IdentityHash> nodes_;
};

// Puts chains in the order in which they can be published; in reverse they can be removed.
void sort_for_publishing(std::vector<const BlobRecord*>& records);

// --- ids ----------------------------------------------------------------------------------------

inline constexpr std::size_t kIdDigitsMin = 8;

// A session, or a place: its segment, its snapshot, a pin.
struct StoreTarget {
  std::optional<SessionId> session;
  Identity node;  // without a session
  [[nodiscard]] bool has(const BlobRecord& record) const {
    return session ? record.session == *session : record.identity == node;
  }
};

// What the beginning of an id names among `records` and `pins`.
[[nodiscard]] Result<StoreTarget> find_target(const std::vector<BlobRecord>& records,
                                              const std::vector<Identity>& pins,
                                              std::string_view id);

// The session that a client named by `name`, its key, or whose id begins with it.
[[nodiscard]] Result<SessionId> find_session(const std::vector<BlobRecord>& records,
                                             std::string_view name);

// The models that are called `name`, or whose fingerprint begins with it.
[[nodiscard]] Result<std::vector<Fingerprint>> find_models(const std::vector<BlobRecord>& records,
                                                           std::string_view name);

}  // namespace samovar
