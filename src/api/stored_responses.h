// StoredResponses: responses that are kept, read from the ledger: while they run, when they have
// ended, and after a restart. Only those that were sent with "store": true (or without `store`,
// where the owner has not turned that off) can be seen.
//
// Thread-safe; borrows. What conversations are made of is remembered, so that going on with one
// does not cost more the longer it is; what the ledger forgets is gone here, too.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/chat_path.h"
#include "api/response_object.h"
#include "api/responses_request.h"
#include "turn/turn_records.h"

namespace samovar {

inline constexpr const char* kResponsesDialect = "responses";  // in the ledger
inline constexpr const char* kFinishCancelled = "cancelled";   // finish of one that was cancelled

struct StoredResponse {
  TurnRecord record;
  ResponsesRequest request;  // without its conversation
};

class StoredResponses final : public ResponseHistory {
 public:
  // How many responses a conversation may be made of.
  static constexpr std::size_t kChainMax = 10'000;
  // Text that is remembered: some 50 conversations of 100k tokens.
  static constexpr std::size_t kMemoBytes = std::size_t{32} << 20;

  // `records` may be null: nothing is kept. `model` is what responses call the model.
  StoredResponses(TurnRecords* records, const ChatPath& chat, ChatDefaults defaults,
                  std::string model);
  ~StoredResponses() override;

  // Errors: not_found, naming the response; what the ledger says.
  [[nodiscard]] Result<StoredResponse> find(const std::string& id) const;

  // The object as it stands. Of one that runs there is no output yet.
  [[nodiscard]] std::string json(const StoredResponse& response) const;
  // The same with another status, of one that runs: "queued", "cancelled".
  [[nodiscard]] std::string json_as(const StoredResponse& response, std::string status) const;

  // What the response was asked with, earlier responses included: items in order, each with an id.
  [[nodiscard]] Result<nlohmann::ordered_json> input_items(const std::string& id) const;

  // False: it was not there.
  [[nodiscard]] Result<bool> forget(const std::string& id) const;

  // --- ResponseHistory ---
  [[nodiscard]] Result<std::vector<Items>> conversation(const std::string& id) const override;
  [[nodiscard]] Result<std::shared_ptr<const nlohmann::ordered_json>> item(
      const std::string& id) const override;

 private:
  [[nodiscard]] std::vector<ReplyBlock> blocks(const TurnRecord& record) const;
  [[nodiscard]] std::string output(const StoredResponse& response) const;
  [[nodiscard]] ResponseHead head(const StoredResponse& response) const;
  struct Link;  // of a conversation: one response
  using Links = std::vector<std::shared_ptr<const Link>>;
  [[nodiscard]] Result<std::shared_ptr<const Link>> link(const std::string& id) const;
  [[nodiscard]] Result<Links> chain(const std::string& id) const;  // oldest first

  TurnRecords* const records_;
  const ChatPath& chat_;
  const ChatDefaults defaults_;
  const std::string model_;

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const Link>> memo_;  // guarded by mutex_
  mutable std::size_t memo_bytes_ = 0;                                         // guarded by mutex_
  mutable std::uint64_t memo_of_ = 0;  // guarded by mutex_: Ledger::forgotten()
};

}  // namespace samovar
