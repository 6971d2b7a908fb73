#include "api/page_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/text_or_null.h"
#include "core/anchor_kind.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// "history end" as "history_end": the names of the API have no spaces.
Json kind_or_null(const std::optional<AnchorKind>& kind) {
  if (!kind) return {};
  std::string name = to_string(*kind);
  std::ranges::replace(name, ' ', '_');
  return name;
}
Json rank_or_null(int rank) { return rank == 0 ? Json() : Json(rank); }

Json server_json(const PageFacts& facts, const PageState& state) {
  Json options = Json::object();
  for (const auto& [flag, value] : facts.options) options[flag] = value;
  return {{"name", "samovar"},        {"version", facts.version},
          {"started", facts.started}, {"uptime_seconds", state.uptime / kSecond},
          {"ready", state.ready},     {"options", std::move(options)}};
}

Json store_json(const PageFacts& facts, const StoreStats& stats) {
  return {{"online", stats.online},
          {"trouble", text_or_null(stats.trouble)},
          {"folder", facts.store_folder},
          {"bytes", stats.bytes},
          {"bytes_max", facts.store_bytes_max},
          {"entries", stats.entries},
          {"bytes_written", stats.bytes_written},
          {"bytes_written_today", stats.bytes_written_today},
          {"writes_per_day", facts.writes_per_day},
          {"queued_bytes", stats.queued_bytes},
          {"bytes_read", stats.bytes_read},
          {"restores", stats.restores},
          {"restore_failures", stats.restore_failures},
          {"evicted", stats.evicted + stats.evicted_full_disk},
          {"superseded", stats.superseded},
          {"quarantined", stats.quarantined},
          {"shed", stats.shed},
          {"write_errors", stats.write_errors}};
}

Json memory_part_json(const PageFacts& facts, const MemoryPart& part) {
  return {{"cells", part.cells},
          {"bytes", static_cast<std::uint64_t>(part.cells) * facts.kv_bytes_per_token},
          {"sequences", part.sequences},
          {"ends", part.ends},
          {"running", part.running},
          {"anchor", kind_or_null(part.anchor)},
          {"anchor_bytes", part.anchor_bytes}};
}

Json disk_part_json(const DiskPart& part) {
  return {{"bytes", part.bytes},
          {"snapshot_bytes", part.snapshot_bytes},
          {"checkpoint", kind_or_null(part.checkpoint)},
          {"hits", part.hits},
          {"last_used", part.last_used},
          {"pinned", part.pinned},
          {"writing", part.writing},
          {"evict_rank", rank_or_null(part.evict_rank)}};
}

// The node's id; null for what was left out.
Json id_of(const PrefixTree& tree, int node) {
  return node < 0 ? Json() : Json(tree.nodes[static_cast<std::size_t>(node)].id);
}

Json node_json(const PageFacts& facts, const PageSessions& shown, std::size_t at) {
  const PrefixNode& node = shown.tree.nodes[at];
  Json names = Json::array();
  if (at < shown.node_sessions.size()) names = shown.node_sessions[at];
  return {{"id", node.id},
          {"parent", id_of(shown.tree, node.parent)},
          {"begin", node.begin},
          {"end", node.end},
          {"memory", node.memory ? memory_part_json(facts, *node.memory) : Json()},
          {"disk", node.disk ? disk_part_json(*node.disk) : Json()},
          {"sessions", std::move(names)}};
}

Json sequence_json(const PrefixTree& tree, const ShownSequence& sequence) {
  return {{"sequence", sequence.sequence},
          {"node", id_of(tree, sequence.node)},
          {"session", text_or_null(sequence.session)},
          {"tokens", sequence.tokens},
          {"running", sequence.running},
          {"rewarmed", sequence.rewarmed},
          {"last_used", sequence.last_used},
          {"turns", sequence.turns},
          {"evict_rank", rank_or_null(sequence.evict_rank)}};
}

Json session_json(const ShownSession& session) {
  return {{"session", session.session},
          {"named_by_client", session.named_by_client},
          {"turns", session.turns},
          {"prompt_tokens", session.prompt_tokens},
          {"last_turn", session.last_turn},
          {"last_used", session.last_used},
          {"resident_tokens", session.resident_tokens},
          {"stored_tokens", session.stored_tokens}};
}

}  // namespace

Json live_turn_json(const LiveView& turn) {
  Json miss;
  if (turn.miss) {
    miss = {{"class", to_string(turn.miss->cause)},
            {"tokens_lost", turn.miss->tokens_lost},
            {"seconds_lost", turn.miss->seconds_lost ? Json(*turn.miss->seconds_lost) : Json()}};
  }
  return {{"id", turn.id},
          {"session", turn.session},
          {"dialect", turn.dialect},
          {"background", turn.background},
          {"created", turn.created},
          {"age_ms", to_ms(turn.age())},
          {"phase", to_string(turn.phase)},
          {"prompt_tokens", turn.prompt_tokens},
          {"done_tokens", turn.done_tokens},
          {"reused_tokens", turn.reused_tokens},
          {"computed_tokens", turn.computed_tokens},
          {"reply_tokens", turn.reply_tokens},
          {"source", turn.source ? Json(to_string(*turn.source)) : Json()},
          {"phases_ms",
           {{"render", to_ms(turn.render)},
            {"queue", to_ms(turn.queue)},
            {"restore", to_ms(turn.restore)},
            {"prefill", to_ms(turn.prefill)},
            {"decode", to_ms(turn.decode)}}},
          {"miss", std::move(miss)}};
}

Json state_json(const PageFacts& facts, const PageState& state) {
  const SchedulerFigures& figures = state.figures;
  Json turns = Json::array();
  for (const LiveView& turn : state.turns) turns.push_back(live_turn_json(turn));
  return {{"object", "samovar.state"},
          {"server", server_json(facts, state)},
          {"model",
           {{"id", facts.model_id},
            {"architecture", facts.architecture},
            {"context", facts.context},
            {"trained_context", facts.trained_context},
            {"recurrent", facts.recurrent},
            {"sequences", facts.sequences},
            {"snapshot_bytes", facts.snapshot_bytes},
            {"token_bytes", facts.token_bytes}}},
          {"queue",
           {{"waiting", figures.waiting},
            {"running", figures.running},
            {"parallel", facts.parallel},
            {"queue_max", facts.queue_max}}},
          {"cells", {{"used", figures.cells_used}, {"total", figures.cells_total}}},
          {"memory",
           {{"rss_bytes", state.rss_bytes},
            {"anchor_bytes", figures.anchor_bytes},
            {"anchor_bytes_max", figures.anchor_bytes_max},
            {"kv_bytes", facts.kv_bytes},
            {"recurrent_bytes", facts.recurrent_bytes},
            {"model_bytes", facts.model_bytes}}},
          {"store", state.store ? store_json(facts, *state.store) : Json()},
          {"turns", std::move(turns)}};
}

Json sessions_json(const PageFacts& facts, const PageSessions& shown) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < shown.tree.nodes.size(); ++i) {
    nodes.push_back(node_json(facts, shown, i));
  }
  Json sequences = Json::array();
  Json next_in_memory;
  for (const ShownSequence& sequence : shown.sequences) {
    sequences.push_back(sequence_json(shown.tree, sequence));
    if (sequence.evict_rank == 1) next_in_memory = sequence.sequence;
  }
  Json sessions = Json::array();
  for (const ShownSession& session : shown.sessions) sessions.push_back(session_json(session));
  Json next_on_disk = Json::array();
  for (const int node : shown.tree.evict_next) next_on_disk.push_back(id_of(shown.tree, node));
  return {{"object", "samovar.sessions"},
          {"nodes", std::move(nodes)},
          {"sequences", std::move(sequences)},
          {"sessions", std::move(sessions)},
          {"memory_evicts_next", std::move(next_in_memory)},
          {"disk_evicts_next", std::move(next_on_disk)},
          {"memory_known", shown.memory_known},
          {"truncated", shown.tree.truncated}};
}

}  // namespace samovar
