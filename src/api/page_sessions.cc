#include "api/page_sessions.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace samovar {
namespace {

class Namer {
 public:
  explicit Namer(const SessionsInput& input) : input_(input) {
    for (const TurnRecord& turn : input.turns) {
      if (turn.session_named) named_[session_of_key(turn.session)] = turn.session;
    }
  }

  // Empty: not known.
  [[nodiscard]] std::string name(const SessionId& id) const {
    if (const auto known = input_.name_of(id)) return *known;
    const auto found = named_.find(id);
    return found == named_.end() ? std::string() : found->second;
  }

 private:
  const SessionsInput& input_;
  std::map<SessionId, std::string> named_;
};

std::vector<std::string> names_of(const PrefixNode& node, const Namer& namer) {
  std::vector<std::string> names;
  for (const SessionId& id : node.sessions) {
    std::string name = namer.name(id);
    const bool known = std::ranges::find(names, name) != names.end();
    if (!name.empty() && !known) names.push_back(std::move(name));
  }
  return names;
}

// In the order of the picture. What is worth least goes first.
std::vector<ShownSequence> sequences_of(const ResidentPicture& memory, const PrefixTree& tree,
                                        const Namer& namer, const SessionsInput& input) {
  std::vector<ShownSequence> shown;
  std::vector<std::pair<double, std::size_t>> idle;
  for (std::size_t i = 0; i < memory.sequences.size(); ++i) {
    const HeldSequence& held = memory.sequences[i];
    shown.push_back({.sequence = held.sequence,
                     .node = tree.sequence_nodes[i],
                     .session = namer.name(held.session),
                     .tokens = static_cast<Position>(held.tokens.size()),
                     .running = held.running,
                     .rewarmed = held.rewarmed,
                     .last_used = input.wall_now - (input.now - held.last_used) / kSecond,
                     .turns = held.turns});
    if (!held.running) idle.emplace_back(held.value, i);
  }
  std::ranges::sort(idle);
  for (std::size_t rank = 0; rank < idle.size(); ++rank) {
    shown[idle[rank].second].evict_rank = static_cast<int>(rank) + 1;
  }
  return shown;
}

// One entry a session, the one used last first: `turns` is in that order.
std::vector<ShownSession> sessions_of(const PrefixTree& tree, const Namer& namer,
                                      const SessionsInput& input) {
  std::unordered_map<std::string, PrefixTree::Reach> reach;
  for (const auto& [id, reached] : tree.sessions) {
    PrefixTree::Reach& most = reach[namer.name(id)];
    most.resident = std::max(most.resident, reached.resident);
    most.stored = std::max(most.stored, reached.stored);
  }
  std::vector<ShownSession> sessions;
  std::unordered_map<std::string, std::size_t> places;
  for (const TurnRecord& turn : input.turns) {
    const auto [place, made] = places.try_emplace(turn.session, sessions.size());
    if (made) {
      const PrefixTree::Reach reached = reach[turn.session];
      sessions.push_back({.session = turn.session,
                          .prompt_tokens = turn.timings.prompt_tokens,
                          .last_turn = turn.id,
                          .resident_tokens = reached.resident,
                          .stored_tokens = reached.stored});
    }
    ShownSession& session = sessions[place->second];
    ++session.turns;
    session.named_by_client = session.named_by_client || turn.session_named;
    const std::int64_t used = turn.ended != 0 ? turn.ended : input.wall_now;
    session.last_used = std::max(session.last_used, used);
  }
  std::ranges::stable_sort(sessions, std::greater<>(), &ShownSession::last_used);
  if (sessions.size() > input.sessions_max) sessions.resize(input.sessions_max);
  return sessions;
}

}  // namespace

PageSessions make_sessions(const SessionsInput& input) {
  const ResidentPicture nothing;
  const ResidentPicture& memory = input.memory != nullptr ? *input.memory : nothing;
  const Namer namer(input);
  PageSessions shown;
  shown.tree = make_prefix_tree(memory, input.store, input.nodes_max);
  for (const PrefixNode& node : shown.tree.nodes) {
    shown.node_sessions.push_back(names_of(node, namer));
  }
  shown.sequences = sequences_of(memory, shown.tree, namer, input);
  shown.sessions = sessions_of(shown.tree, namer, input);
  shown.memory_known = input.memory != nullptr;
  return shown;
}

}  // namespace samovar
