// What the page shows, as values, and their JSON: docs/page-api.md describes every field, and a
// test holds it to this. Pure; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sched/published_figures.h"
#include "store/store_stats.h"
#include "turn/prefix_tree.h"
#include "turn/turn_board.h"

namespace samovar {

// What does not change while the server runs.
struct PageFacts {
  std::string version;
  std::int64_t started = 0;                                  // wall seconds
  std::vector<std::pair<std::string, std::string>> options;  // by flag; no secrets
  std::string model_id;
  std::string architecture;
  Position context = 0;
  Position trained_context = 0;
  bool recurrent = false;
  int sequences = 0;
  std::uint64_t snapshot_bytes = 0;
  std::uint64_t token_bytes = 0;
  int parallel = 0;
  int queue_max = 0;
  // As planned at the start.
  std::uint64_t kv_bytes = 0;
  std::uint64_t kv_bytes_per_token = 0;
  std::uint64_t recurrent_bytes = 0;
  std::uint64_t model_bytes = 0;
  // Of the store, if there is one.
  std::string store_folder;
  std::uint64_t store_bytes_max = 0;
  std::uint64_t writes_per_day = 0;
};

struct PageState {
  Micros uptime = 0;
  bool ready = false;
  SchedulerFigures figures;
  std::uint64_t rss_bytes = 0;
  std::optional<StoreStats> store;
  std::vector<LiveView> turns;
};

[[nodiscard]] nlohmann::ordered_json live_turn_json(const LiveView& turn);
[[nodiscard]] nlohmann::ordered_json state_json(const PageFacts& facts, const PageState& state);

// A sequence of the tree, with the session's name and the rank in which it would go (0: it runs).
struct ShownSequence {
  SeqId sequence = 0;
  int node = -1;
  std::string session;  // empty: not known
  Position tokens = 0;
  bool running = false;
  bool rewarmed = false;
  std::int64_t last_used = 0;  // wall seconds
  int turns = 0;
  int evict_rank = 0;
};

struct ShownSession {
  std::string session;
  bool named_by_client = false;
  int turns = 0;
  Position prompt_tokens = 0;  // of its last turn
  std::string last_turn;
  std::int64_t last_used = 0;  // wall seconds
  Position resident_tokens = 0;
  Position stored_tokens = 0;
};

struct PageSessions {
  PrefixTree tree;
  std::vector<std::vector<std::string>> node_sessions;  // names, for each node
  std::vector<ShownSequence> sequences;
  std::vector<ShownSession> sessions;
  bool memory_known = true;
};

[[nodiscard]] nlohmann::ordered_json sessions_json(const PageFacts& facts,
                                                   const PageSessions& shown);

}  // namespace samovar
