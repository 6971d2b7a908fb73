#include "replay/histories.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace samovar::replay {

FedReply fit_reply(const ChatMessage& actual, const TraceReply* recorded) {
  FedReply fed;
  fed.message = actual;
  fed.message.role = Role::assistant;
  if (recorded == nullptr) return fed;
  const std::vector<ToolCall>& expected = recorded->message.tool_calls;
  std::vector<ToolCall>& calls = fed.message.tool_calls;
  fed.changed = calls.size() != expected.size();
  if (calls.size() > expected.size()) calls.resize(expected.size());
  for (std::size_t i = 0; i < calls.size(); ++i) fed.ids[expected[i].id] = calls[i].id;
  for (std::size_t i = calls.size(); i < expected.size(); ++i) calls.push_back(expected[i]);
  return fed;
}

Histories::Histories(const Trace& trace) : trace_(trace) {
  for (std::size_t i = 0; i < trace.turns.size(); ++i) index_[trace.turns[i].id] = i;
}

std::size_t Histories::before(std::size_t turn) const { return index(trace_.turns[turn].after); }

std::size_t Histories::count(std::size_t turn) const {
  const TraceTurn& line = trace_.turns[turn];
  return line.keep + (line.returned == Returned::no ? 0 : 1) + line.messages.size();
}

std::vector<ChatMessage> Histories::messages(std::size_t turn, const Replies& reply_of) const {
  std::vector<ChatMessage> reversed;
  std::map<std::string, std::string> ids;
  std::size_t limit = count(turn);
  for (;;) {
    const TraceTurn& line = trace_.turns[turn];
    const std::size_t own = line.keep + (line.returned == Returned::no ? 0 : 1);
    for (std::size_t i = limit; i > own; --i) reversed.push_back(line.messages[i - own - 1]);
    if (line.after.empty()) break;
    const std::size_t followed = before(turn);
    if (line.returned != Returned::no && limit > line.keep) {
      if (const FedReply* fed = reply_of(followed)) {
        reversed.push_back(fed->message);
        if (line.returned == Returned::without_reasoning) reversed.back().reasoning.clear();
        ids.insert(fed->ids.begin(), fed->ids.end());  // of two, the later turn's
      }
    }
    limit = std::min(limit, line.keep);
    turn = followed;
  }
  std::ranges::reverse(reversed);
  for (ChatMessage& message : reversed) {
    const auto now = ids.find(message.tool_call_id);
    if (message.role == Role::tool && now != ids.end()) message.tool_call_id = now->second;
  }
  return reversed;
}

std::vector<ChatMessage> Histories::recorded_messages(std::size_t turn) const {
  std::vector<std::unique_ptr<FedReply>> fed;  // pointers into it stay
  return messages(turn, [&](std::size_t of) -> const FedReply* {
    const auto& reply = trace_.turns[of].reply;
    if (!reply) return nullptr;
    fed.push_back(std::make_unique<FedReply>());
    fed.back()->message = reply->message;
    return fed.back().get();
  });
}

const std::vector<Tool>& Histories::tools(std::size_t turn) const {
  static const std::vector<Tool> none;
  for (;;) {
    const TraceTurn& line = trace_.turns[turn];
    if (line.tools) return *line.tools;
    if (line.after.empty()) return none;
    turn = before(turn);
  }
}

const TraceSettings& Histories::settings(std::size_t turn) const {
  static const TraceSettings none;
  for (;;) {
    const TraceTurn& line = trace_.turns[turn];
    if (line.settings) return *line.settings;
    if (line.after.empty()) return none;
    turn = before(turn);
  }
}

}  // namespace samovar::replay
