#include "explain/departure.h"

#include <algorithm>
#include <cstdlib>

#include "explain/text_change.h"

namespace samovar {
namespace {

constexpr Position kNear = 256;  // tokens: an estimate and a fact so close mean the same place

// What is known of the region in which the prompts part.
struct Region {
  std::size_t first = 0;  // it lies in one of these messages
  std::size_t last = 0;
  bool in_system = false;
  RenderedPlace earlier;  // empty without rendered texts
  RenderedPlace later;
  bool rendered = false;
};

std::size_t message_of(const std::vector<Position>& positions, Position at) {
  const auto next = std::upper_bound(positions.begin(), positions.end() - 1, at);
  return next == positions.begin() ? 0 : static_cast<std::size_t>(next - positions.begin()) - 1;
}

Position tools_position(const Comparison& c, const Difference& difference) {
  std::uint64_t before = 0;
  std::uint64_t all = 1;
  for (std::size_t i = 0; i < c.after.tools.size(); ++i) {
    const ToolShape& tool = c.after.tools[i];
    const std::uint64_t bytes = tool.name.size() + tool.description.bytes + tool.parameters.bytes;
    all += bytes;
    if (i < difference.index) before += bytes;
  }
  const double share = static_cast<double>(before) / static_cast<double>(all);
  return static_cast<Position>(share * static_cast<double>(c.after.system_end));
}

Position position_of(const Comparison& c, const Difference& difference) {
  switch (difference.part) {
    case Part::model:
    case Part::chat_template:
    case Part::option:
      return 0;
    case Part::tools:
    case Part::tool:
      return tools_position(c, difference);
    case Part::message:
      break;
  }
  const std::size_t last = c.positions.size() - 1;
  if (difference.index >= last) return c.positions[last];
  const Position begin = c.positions[difference.index];
  if (!difference.before || !difference.after || difference.after->empty()) return begin;
  const double size = static_cast<double>(c.positions[difference.index + 1] - begin);
  const double share = static_cast<double>(common_prefix(*difference.before, *difference.after)) /
                       static_cast<double>(difference.after->size());
  return begin + static_cast<Position>(share * size);
}

// True if a whole reply of the turn before stands in the later request.
bool reply_went_on(const Comparison& c) {
  const std::size_t place = c.before.messages.size();
  const MessageShape* reply = message_at(c.before, place);
  return reply != nullptr && place < c.after.messages.size() &&
         reply->identity() == c.after.messages[place].identity();
}

// Where the common part ends if nothing differs: of the earlier turn, or of the later one.
Position end_of_common(const Comparison& c) {
  const std::size_t old_count = c.before.messages.size();
  if (c.after.messages.size() <= old_count) return c.after.history_end;
  if (!reply_went_on(c)) return std::min(c.before.history_end, c.after.history_end);
  return c.after.estimated
             ? c.positions[old_count + 1]
             : std::min(c.before.prompt_tokens + c.before.reply->tokens, c.after.history_end);
}

Departure by_tokens(const Comparison& c) {
  const Tokens& a = *c.before.tokens;
  const Tokens& b = *c.after.tokens;
  const auto size = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  Departure departure;
  departure.exact = true;
  departure.at = static_cast<Position>(std::mismatch(a.begin(), a.begin() + size, b.begin()).first -
                                       a.begin());
  departure.broken = departure.at < size;
  const bool reply_known = c.before.reply && c.before.reply->tokens > 0;
  if (departure.at >= c.before.history_end && !reply_known) departure.broken = false;
  if (!departure.broken && static_cast<std::size_t>(departure.at) == a.size() && reply_known &&
      reply_went_on(c)) {
    // Of the reply only the number of tokens is known: what is resident tells how far it went on.
    const Position end =
        std::min(a.size() > static_cast<std::size_t>(c.before.prompt_tokens) ? departure.at
                                                                             : end_of_common(c),
                 c.facts.matched);
    departure.at = std::max(departure.at, end);
  }
  return departure;
}

Departure by_shapes(const Comparison& c) {
  Departure departure;
  const auto strong = std::find_if(c.differences.begin(), c.differences.end(),
                                   [](const Difference& d) { return !d.weak; });
  if (strong != c.differences.end()) {
    departure.broken = true;
    departure.at = position_of(c, *strong);
    const Position known = std::max(c.facts.matched, c.figures.reused.value_or(0));
    if (known > 0 && std::abs(known - departure.at) <= kNear + departure.at / 4) {
      departure.at = known;
    }
    return departure;
  }
  departure.at = end_of_common(c);
  const auto dropped = reasoning_before_user(c.before, c.after);
  if (!dropped || c.before.keeps_reasoning == true) return departure;
  const Position place = c.positions[std::min(*dropped, c.positions.size() - 1)];
  // Not known of the template, but what was resident ended just there.
  const bool shown = c.figures.reused && c.facts.matched < departure.at - kSmallLoss &&
                     std::abs(c.facts.matched - place) <= kNear;
  if (c.before.keeps_reasoning == false || shown) {
    departure.broken = true;
    departure.at = shown ? c.facts.matched : place;
  }
  return departure;
}

Region region_of(const Comparison& c, const Departure& departure) {
  Region region;
  region.first = region.last = message_of(c.positions, departure.at);
  region.in_system = departure.at < c.after.system_end;
  if (!departure.byte || !c.before.request || !c.after.request) return region;
  region.rendered = true;
  region.earlier = place_of(*departure.byte, *c.before.rendered, *c.before.request);
  region.later = place_of(*departure.byte, *c.after.rendered, *c.after.request);
  // A text is surer than what lies between two.
  const bool by_earlier = region.later.field.empty() && !region.earlier.field.empty();
  const RenderedPlace& place = by_earlier ? region.earlier : region.later;
  if (place.first) {
    region.first = *place.first;
    region.last = *place.last;
  }
  return region;
}

// How far a difference lies from where the prompts part, in messages; fractions order what lies in
// one message. 2 and more: too far to be the cause.
double distance(const Difference& difference, const Region& region) {
  switch (difference.part) {
    case Part::model:
      return 0.0;
    case Part::chat_template:
    case Part::option:
      return difference.weak ? 1.9 : 1.2;
    case Part::tools:
    case Part::tool:
      if (region.rendered) return region.earlier.in_tools || region.later.in_tools ? 0.0 : 1.5;
      return region.in_system || region.first == 0 ? 0.2 : 1.5;
    case Part::message:
      break;
  }
  double messages = 0.0;
  if (difference.index > region.last) {
    messages = static_cast<double>(difference.index - region.last);
  } else if (difference.index < region.first) {
    messages = static_cast<double>(region.first - difference.index);
  }
  if (!region.rendered) return messages + (difference.weak ? 0.5 : 0.0);
  const bool in_tools = region.earlier.in_tools || region.later.in_tools;
  const bool same_field =
      difference.field == region.later.field || difference.field == region.earlier.field;
  const bool outside = region.later.field.empty() && !in_tools;  // calls and the like
  return messages + (same_field ? 0.0 : outside ? 0.3 : 0.7) + (difference.weak ? 0.5 : 0.0);
}

const Difference* blame(const Comparison& c, const Region& region, bool located) {
  if (c.differences.empty()) return nullptr;
  if (c.differences.front().part == Part::model) return &c.differences.front();
  if (!located) {
    const auto strong = std::find_if(c.differences.begin(), c.differences.end(),
                                     [](const Difference& d) { return !d.weak; });
    return strong == c.differences.end() ? nullptr : &*strong;
  }
  const Difference* best = nullptr;
  double best_distance = 2.0;
  for (const Difference& difference : c.differences) {
    const double d = distance(difference, region);
    if (d >= best_distance) continue;
    best = &difference;
    best_distance = d;
  }
  const auto dropped = reasoning_before_user(c.before, c.after);
  const bool templates_doing = dropped && *dropped >= region.first && *dropped <= region.last;
  return best_distance >= 1.0 && templates_doing ? nullptr : best;
}

}  // namespace

std::optional<std::size_t> reasoning_before_user(const TurnShape& before, const TurnShape& after) {
  std::size_t last_user = 0;
  for (std::size_t i = 0; i < before.messages.size(); ++i) {
    if (before.messages[i].role == Role::user) last_user = i;
  }
  std::optional<std::size_t> first;
  for (std::size_t i = last_user + 1; const MessageShape* message = message_at(before, i); ++i) {
    if (i >= after.messages.size() || after.messages[i].role != Role::assistant) continue;
    if (!message->reasoning.empty() && !first) first = i;
  }
  if (!first) return std::nullopt;
  for (std::size_t i = *first + 1; i < after.messages.size(); ++i) {
    if (after.messages[i].role == Role::user) return first;
  }
  return std::nullopt;
}

Departure find_departure(const Comparison& c) {
  const bool tokens = c.before.tokens && c.after.tokens;
  Departure departure = tokens ? by_tokens(c) : by_shapes(c);
  // Behind its history the earlier text has the primer only: bytes tell nothing there.
  const bool in_history = !tokens || departure.at < c.before.history_end;
  if (c.before.rendered && c.after.rendered && in_history) {
    const std::size_t byte = common_prefix(*c.before.rendered, *c.after.rendered);
    const bool inside = byte < c.before.rendered->size() && byte < c.after.rendered->size();
    if (inside && departure.broken) departure.byte = byte;
  }
  const Region region = region_of(c, departure);
  departure.message = std::clamp(message_of(c.positions, departure.at), region.first, region.last);
  if (departure.broken) {
    departure.blamed = blame(c, region, tokens || region.rendered);
    const Difference* blamed = departure.blamed;
    const bool inside = blamed != nullptr && blamed->part == Part::message &&
                        blamed->index >= region.first && blamed->index <= region.last;
    if (inside) departure.message = blamed->index;
  } else if (!c.differences.empty() && c.differences.front().part == Part::model) {
    departure.blamed = &c.differences.front();
    departure.broken = true;
    departure.at = 0;
  }
  return departure;
}

}  // namespace samovar
