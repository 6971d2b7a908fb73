#include "explain/shape_compare.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace samovar {
namespace {

using Text = std::optional<std::string_view>;

const ChatMessage* text_at(const TurnShape& shape, std::size_t index) {
  if (index == shape.messages.size()) return shape.reply_text.get();
  const bool there = shape.request && index < shape.request->messages.size() &&
                     shape.request->messages.size() == shape.messages.size();
  return there ? &shape.request->messages[index] : nullptr;
}

bool same_spelling_aside(const TextPrint& a, const TextPrint& b) {
  return a.loose == b.loose && a.empty() == b.empty();
}

// Compares one message of both turns, field by field, in the order in which templates show them.
class MessageComparison {
 public:
  MessageComparison(const TurnShape& before, const TurnShape& after, std::size_t index,
                    std::vector<Difference>& out)
      : old_shape_(*message_at(before, index)),
        new_shape_(after.messages[index]),
        old_text_(text_at(before, index)),
        new_text_(text_at(after, index)),
        index_(index),
        in_reply_(index == before.messages.size()),
        out_(out) {}

  void run() {
    if (old_shape_.role != new_shape_.role) {
      add("role", false, false);
      set_texts([](const ChatMessage& m) -> std::string_view { return to_string(m.role); });
      return;
    }
    compare("reasoning", old_shape_.reasoning, new_shape_.reasoning,
            [](const ChatMessage& m) -> std::string_view { return m.reasoning; });
    compare("content", old_shape_.content, new_shape_.content,
            [](const ChatMessage& m) -> std::string_view { return m.content; });
    compare_calls();
    compare(
        "name", old_shape_.name, new_shape_.name,
        [](const ChatMessage& m) -> std::string_view { return m.name; }, true);
    compare(
        "tool_call_id", old_shape_.call_id, new_shape_.call_id,
        [](const ChatMessage& m) -> std::string_view { return m.tool_call_id; }, true);
  }

 private:
  void add(std::string field, bool respelled, bool dropped, bool weak = false) {
    Difference difference;
    difference.index = index_;
    difference.field = std::move(field);
    difference.respelled = respelled;
    difference.dropped = dropped;
    difference.weak = weak;
    difference.in_reply = in_reply_;
    out_.push_back(std::move(difference));
  }
  template <class Get>
  void set_texts(Get get) {
    if (old_text_ == nullptr || new_text_ == nullptr) return;
    out_.back().before = get(*old_text_);
    out_.back().after = get(*new_text_);
  }
  template <class Get>
  void compare(std::string field, const TextPrint& a, const TextPrint& b, Get get,
               bool weak = false) {
    if (a == b) return;
    add(std::move(field), same_spelling_aside(a, b), b.empty(), weak);
    set_texts(get);
  }
  void compare_calls() {
    const std::size_t common = std::min(old_shape_.calls.size(), new_shape_.calls.size());
    for (std::size_t i = 0; i < common; ++i) {
      const CallShape& a = old_shape_.calls[i];
      const CallShape& b = new_shape_.calls[i];
      const std::string call = "tool_calls[" + std::to_string(i) + "].";
      const auto of = [i](const ChatMessage& m) -> const ToolCall& { return m.tool_calls.at(i); };
      compare(call + "name", a.name, b.name,
              [&](const ChatMessage& m) -> std::string_view { return of(m).name; });
      compare(call + "arguments", a.arguments, b.arguments,
              [&](const ChatMessage& m) -> std::string_view { return of(m).arguments; });
      compare(
          call + "id", a.id, b.id,
          [&](const ChatMessage& m) -> std::string_view { return of(m).id; }, true);
    }
    if (old_shape_.calls.size() != new_shape_.calls.size()) {
      add("tool_calls[" + std::to_string(common) + "]", false,
          new_shape_.calls.size() < old_shape_.calls.size());
    }
  }

  const MessageShape& old_shape_;
  const MessageShape& new_shape_;
  const ChatMessage* old_text_;
  const ChatMessage* new_text_;
  std::size_t index_;
  bool in_reply_;
  std::vector<Difference>& out_;
};

void compare_messages(const TurnShape& before, const TurnShape& after,
                      std::vector<Difference>& out) {
  const std::size_t already = out.size();
  for (std::size_t i = 0; i < after.messages.size(); ++i) {
    if (message_at(before, i) == nullptr || out.size() - already >= kMessageDifferences) return;
    MessageComparison(before, after, i, out).run();
    // Places mean nothing any more behind a message that came or went.
    if (out.size() > already && out.back().field == "role") return;
  }
  // The later conversation ends before the earlier one did.
  if (after.messages.size() >= before.messages.size()) return;
  Difference cut;
  cut.index = after.messages.size();
  cut.field = "role";
  cut.dropped = true;
  out.push_back(std::move(cut));
}

void compare_options(const TurnShape& before, const TurnShape& after,
                     std::vector<Difference>& out) {
  std::map<std::string_view, const OptionShape*> left;
  for (const OptionShape& option : before.options) left[option.name] = &option;
  const auto add = [&out](const OptionShape& option, bool dropped) {
    Difference difference;
    difference.part = Part::option;
    difference.field = option.name;
    difference.weak = option.weak;
    difference.dropped = dropped;
    out.push_back(std::move(difference));
  };
  for (const OptionShape& option : after.options) {
    const auto old = left.find(option.name);
    if (old == left.end() || old->second->value != option.value) add(option, false);
    if (old != left.end()) left.erase(old);
  }
  for (const auto& [name, option] : left) add(*option, true);
}

Difference tool_difference(Part part, std::size_t index, std::string field, std::string name) {
  Difference difference;
  difference.part = part;
  difference.index = index;
  difference.field = std::move(field);
  difference.tool = std::move(name);
  return difference;
}

const Tool* tool_text(const TurnShape& shape, std::size_t index) {
  const bool there = shape.request && shape.request->tools.size() == shape.tools.size();
  return there ? &shape.request->tools[index] : nullptr;
}

// Two tools of one name.
void compare_tool(const TurnShape& before, std::size_t old_index, const TurnShape& after,
                  std::size_t index, std::vector<Difference>& out) {
  const ToolShape& a = before.tools[old_index];
  const ToolShape& b = after.tools[index];
  const Tool* old_text = tool_text(before, old_index);
  const Tool* new_text = tool_text(after, index);
  const bool texts = old_text != nullptr && new_text != nullptr;
  const std::string place = "tools[" + std::to_string(index) + "].";
  const auto compare = [&](const char* field, const TextPrint& x, const TextPrint& y,
                           std::string Tool::* text) {
    if (x == y) return;
    Difference difference = tool_difference(Part::tool, index, place + field, b.name);
    difference.respelled = same_spelling_aside(x, y);
    if (texts) {
      difference.before = old_text->*text;
      difference.after = new_text->*text;
    }
    out.push_back(std::move(difference));
  };
  compare("description", a.description, b.description, &Tool::description);
  compare("parameters", a.parameters, b.parameters, &Tool::parameters);
}

void compare_tools(const TurnShape& before, const TurnShape& after, std::vector<Difference>& out) {
  if (before.tools == after.tools) return;
  std::unordered_multimap<std::string_view, std::size_t> left;
  for (std::size_t i = 0; i < before.tools.size(); ++i) left.emplace(before.tools[i].name, i);
  std::vector<Difference> changed;
  std::optional<std::size_t> added;
  std::optional<std::size_t> moved;
  for (std::size_t i = 0; i < after.tools.size(); ++i) {
    const auto old = left.find(after.tools[i].name);
    if (old == left.end()) {
      if (!added) added = i;
      continue;
    }
    if (old->second != i && !moved) moved = i;
    compare_tool(before, old->second, after, i, changed);
    left.erase(old);
  }
  if (added || !left.empty()) {
    std::size_t gone = before.tools.size();
    for (const auto& [name, index] : left) gone = std::min(gone, index);
    const bool is_new = added && *added <= gone;
    const std::size_t index = is_new ? *added : gone;
    Difference difference = tool_difference(
        Part::tools, index, "tools", is_new ? after.tools[index].name : before.tools[index].name);
    difference.dropped = !is_new;
    out.push_back(std::move(difference));
  } else if (!changed.empty() && (!moved || changed.front().index < *moved)) {
    out.insert(out.end(), changed.begin(), changed.end());
  } else {
    const std::size_t index = moved.value_or(0);
    out.push_back(tool_difference(Part::tools, index, "tools", after.tools[index].name));
    out.back().respelled = true;  // another order
    out.insert(out.end(), changed.begin(), changed.end());
  }
}

Difference global(Part part, const char* field) {
  Difference difference;
  difference.part = part;
  difference.field = field;
  return difference;
}

}  // namespace

const MessageShape* message_at(const TurnShape& shape, std::size_t index) {
  if (index < shape.messages.size()) return &shape.messages[index];
  const bool reply = index == shape.messages.size() && shape.reply && shape.reply->tokens > 0;
  return reply ? &shape.reply->message : nullptr;
}

std::vector<Difference> differences(const TurnShape& before, const TurnShape& after) {
  std::vector<Difference> out;
  if (!before.model.empty() && !after.model.empty() && before.model != after.model) {
    out.push_back(global(Part::model, "model"));
  }
  if (before.chat_template != after.chat_template && before.chat_template != 0 &&
      after.chat_template != 0) {
    out.push_back(global(Part::chat_template, "template"));
  }
  compare_options(before, after, out);
  compare_tools(before, after, out);
  compare_messages(before, after, out);
  return out;
}

Alignment align(const TurnShape& before, const TurnShape& after, std::size_t from) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places;  // each in ascending order
  std::size_t old_count = 0;
  for (; const MessageShape* message = message_at(before, old_count); ++old_count) {
    if (old_count >= from) places[message->identity()].push_back(old_count);
  }
  Alignment result;
  result.shared.assign(after.messages.size(), false);
  std::size_t next = from;  // shared messages keep their order
  std::size_t matched = 0;
  for (std::size_t i = 0; i < after.messages.size(); ++i) {
    if (i < from) {
      result.shared[i] = true;
      continue;
    }
    const auto found = places.find(after.messages[i].identity());
    if (found != places.end()) {
      const auto place = std::lower_bound(found->second.begin(), found->second.end(), next);
      if (place != found->second.end()) {
        next = *place + 1;
        result.shared[i] = true;
        ++matched;
        continue;
      }
    }
    ++result.fresh;
  }
  const std::size_t rest = old_count > from ? old_count - from : 0;
  result.lost = rest - matched;
  return result;
}

}  // namespace samovar
