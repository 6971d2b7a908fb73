#include "explain/explain.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "explain/departure.h"
#include "explain/text_change.h"
#include "explain/wording.h"

namespace samovar {
namespace {

bool is_system(Role role) { return role == Role::system || role == Role::developer; }

std::string joined_names(const std::vector<ToolShape>& tools) {
  std::string names;
  for (const ToolShape& tool : tools) names += (names.empty() ? "" : ", ") + tool.name;
  return names;
}

std::string option_text(const ChatRequest* request, const std::string& name) {
  if (request == nullptr) return {};
  constexpr std::string_view kKwargs = "chat_template_kwargs.";
  if (name == "enable_thinking" && request->enable_thinking) {
    return *request->enable_thinking ? "true" : "false";
  }
  const std::string key = name.starts_with(kKwargs) ? name.substr(kKwargs.size()) : name;
  const auto found = request->template_arguments.find(key);
  return found == request->template_arguments.end() ? std::string() : found->second;
}

class Explainer {
 public:
  Explainer(const TurnShape& before, const TurnShape& after, const ReuseFacts& facts,
            const Figures& figures)
      : before_(before),
        after_(after),
        facts_(facts),
        figures_(figures),
        comparison_{
            before, after, facts, figures, differences(before, after), message_positions(after)},
        departure_(find_departure(comparison_)) {}

  Explanation run() {
    changed_ = first_changed_message();
    alignment_ = align(before_, after_, changed_);
    measure();
    result_.cause = choose_cause();
    if (departure_.broken) fill_first_difference();
    if (reply_is_missing()) {
      story_.reply_missing = true;
      story_.reply_tokens = before_.reply ? before_.reply->tokens : 0;
      if (story_.reply_tokens > 0) result_.kept_reply = before_.turn_id;
      if (result_.cause == Cause::reply_missing) point_at_missing_reply();
    }
    fill_story();
    put_into_words(story_, result_);
    return std::move(result_);
  }

 private:
  // --- what was lost ---

  std::size_t first_changed_message() const {
    for (const Difference& difference : comparison_.differences) {
      if (difference.part == Part::message && !difference.weak) return difference.index;
    }
    return before_.messages.size() + (message_at(before_, before_.messages.size()) ? 1 : 0);
  }

  Position size_of(std::size_t message) const {
    return comparison_.positions[message + 1] - comparison_.positions[message];
  }

  // How much of what follows the difference in its own message had been computed before.
  double shared_fraction() const {
    const Difference* difference = departure_.blamed;
    if (difference == nullptr || difference->part != Part::message ||
        difference->index != departure_.message) {
      return departure_.message < alignment_.shared.size() &&
                     (alignment_.shared[departure_.message] || departure_.message != changed_)
                 ? 1.0
                 : 0.0;
    }
    if (difference->field == "role") return 0.0;
    if (difference->field == "reasoning") {  // what follows it is the rest of the message
      return alignment_.shared[departure_.message] ? 1.0 : 0.0;
    }
    if (difference->before && difference->after) {
      const std::size_t prefix = common_prefix(*difference->before, *difference->after);
      const std::size_t rest = difference->after->size() - prefix;
      if (rest == 0) return 1.0;
      return static_cast<double>(common_suffix(*difference->before, *difference->after, prefix)) /
             static_cast<double>(rest);
    }
    const MessageShape* old_message = message_at(before_, difference->index);
    const double a = old_message == nullptr ? 0.0 : static_cast<double>(old_message->bytes());
    const double b = static_cast<double>(after_.messages[difference->index].bytes());
    return std::abs(a - b) <= 0.2 * std::max(a, b) ? 1.0 : 0.0;  // most of it, in all likelihood
  }

  // Tokens of a tool that is new or says something new: nobody had computed them.
  double fresh_in_tools() const {
    const Difference* difference = departure_.blamed;
    const bool fresh = difference != nullptr && !difference->dropped && !difference->respelled &&
                       (difference->part == Part::tool || difference->part == Part::tools);
    if (!fresh || difference->index >= after_.tools.size()) return 0.0;
    const ToolShape& tool = after_.tools[difference->index];
    const double bytes = static_cast<double>(tool.name.size()) + tool.description.bytes +
                         static_cast<double>(tool.parameters.bytes);
    return bytes / 4.0;
  }

  Position shared_after_departure() const {
    if (!departure_.broken || after_.messages.empty()) return 0;
    const std::size_t at = std::min(departure_.message, after_.messages.size() - 1);
    const Position rest = std::max<Position>(0, comparison_.positions[at + 1] - departure_.at);
    double sum = shared_fraction() * std::max(0.0, static_cast<double>(rest) - fresh_in_tools());
    for (std::size_t i = at + 1; i < after_.messages.size(); ++i) {
      if (alignment_.shared[i]) sum += static_cast<double>(size_of(i));
    }
    return std::min(static_cast<Position>(sum), after_.prompt_tokens - departure_.at);
  }

  void measure() {
    departure_.at = std::clamp(departure_.at, 0, after_.prompt_tokens);
    const Position reused = figures_.reused.value_or(departure_.at);
    if (!departure_.exact) {
      departure_.at = std::max(departure_.at, std::min(reused, after_.prompt_tokens));
    }
    lost_before_ = std::max(0, departure_.at - reused);
    const Position beyond = std::max(0, reused - departure_.at);  // reused from somewhere else
    lost_after_ = std::max(0, shared_after_departure() - beyond);
    result_.tokens_lost = lost_before_ + lost_after_;
    result_.estimated = !departure_.exact || lost_after_ > 0;
    if (figures_.prefill_us_per_token > 0) {
      result_.seconds_lost = result_.tokens_lost * figures_.prefill_us_per_token / 1e6;
    }
  }

  // --- the cause ---

  Cause choose_cause() const {
    const bool changed = departure_.broken && departure_.at < after_.prompt_tokens;
    if (changed && departure_.blamed != nullptr && departure_.blamed->part == Part::model) {
      return Cause::model_changed;
    }
    if (result_.tokens_lost > kSmallLoss) {
      const bool content =
          changed && lost_after_ > 0 &&
          (lost_before_ <= kSmallLoss || lost_after_ >= lost_before_ || lost_after_ > kSmallLoss);
      if (content) return cause_of_change();
      // How far back the nearest point to resume from lies would not have mattered, had nothing
      // changed before the end of the earlier turn's history.
      const Cause state = cause_of_state();
      const bool within = changed && departure_.at < before_.history_end;
      return within && state == Cause::partly_reused_granularity ? cause_of_change() : state;
    }
    if (reply_is_missing()) return Cause::reply_missing;
    if (is_compacted()) return Cause::history_compacted;
    return Cause::none;
  }

  Cause cause_of_state() const {
    const Position wanted = departure_.at - kSmallLoss;
    if (facts_.restores_failed > 0) return Cause::restore_failed;
    if (facts_.matched >= wanted || facts_.stored >= wanted) {
      return Cause::partly_reused_granularity;
    }
    return facts_.store_on ? Cause::never_stored : Cause::evicted;
  }

  Cause cause_of_change() const {
    const Difference* difference = departure_.blamed;
    if (difference == nullptr) return cause_of_template();
    switch (difference->part) {
      case Part::model:
        return Cause::model_changed;
      case Part::chat_template:
      case Part::option:
        return Cause::template_or_option_changed;
      case Part::tools:
        return difference->respelled ? Cause::tool_order : Cause::tools_added_or_removed;
      case Part::tool:
        return by_text(*difference, Cause::tool_schema_changed);
      case Part::message:
        break;
    }
    return cause_in_message(*difference);
  }

  Cause cause_of_template() const {
    if (departure_.at >= before_.history_end || is_reply(departure_.message)) {
      const bool thought = reasoning_before_user(before_, after_).has_value() ||
                           (before_.reply && !before_.reply->message.reasoning.empty());
      return thought ? Cause::reasoning_dropped_by_template : Cause::reply_altered;
    }
    for (const std::size_t i : {departure_.message, departure_.message - 1}) {
      if (i >= before_.messages.size() || before_.messages[i].role != Role::assistant) continue;
      if (!before_.messages[i].reasoning.empty() || text_has("<think>")) {
        return Cause::reasoning_dropped_by_template;
      }
    }
    return Cause::template_or_option_changed;
  }

  Cause cause_in_message(const Difference& difference) const {
    if (difference.in_reply && reply_is_missing()) return Cause::reply_missing;
    if (is_compacted()) return Cause::history_compacted;
    if (difference.field == "role" || difference.index >= after_.messages.size()) {
      return Cause::history_edited;
    }
    const Role role = after_.messages[difference.index].role;
    if (difference.weak) {
      return difference.field.ends_with("id") ? Cause::unique_id : Cause::history_edited;
    }
    if (difference.field == "reasoning" && difference.dropped) {
      const auto dropped = reasoning_before_user(before_, after_);
      const bool template_too =
          before_.keeps_reasoning == false && dropped && *dropped <= difference.index;
      return template_too ? Cause::reasoning_dropped_by_template
                          : Cause::reasoning_dropped_by_client;
    }
    if (role == Role::assistant) {
      return difference.respelled && difference.field == "content" ? Cause::whitespace
                                                                   : Cause::reply_altered;
    }
    return by_text(difference, is_system(role) ? Cause::system_text_edited : Cause::history_edited);
  }

  Cause by_text(const Difference& difference, Cause edited) const {
    if (!difference.before || !difference.after) {
      return difference.respelled && edited != Cause::tool_schema_changed ? Cause::whitespace
                                                                          : edited;
    }
    switch (classify_change(*difference.before, *difference.after)) {
      case TextChange::whitespace:
        return edited == Cause::tool_schema_changed ? edited : Cause::whitespace;
      case TextChange::unique_id:
        return Cause::unique_id;
      case TextChange::time_or_date:
        return Cause::time_or_date;
      case TextChange::counter_or_hash:
        return Cause::counter_or_hash;
      case TextChange::none:
      case TextChange::edited:
        break;
    }
    return edited;
  }

  bool is_reply(std::size_t message) const { return message == before_.messages.size(); }

  // The turn before asked for a reply and got one, for all we know, and the next message is not it.
  bool reply_is_missing() const {
    const std::size_t place = before_.messages.size();
    if (place == 0 || place >= after_.messages.size()) return false;
    if (before_.reply && before_.reply->tokens == 0) return false;
    const MessageShape& last = before_.messages[place - 1];
    const bool asked = last.role == Role::user || last.role == Role::tool;
    return asked && after_.messages[place].role == Role::user &&
           last.identity() == after_.messages[place - 1].identity();
  }

  // Messages made way for fewer ones, or several of them shrank.
  bool is_compacted() const {
    std::size_t shrunk = 0;
    for (const Difference& difference : comparison_.differences) {
      if (difference.part != Part::message || difference.weak) continue;
      const MessageShape* old_message = message_at(before_, difference.index);
      if (difference.index >= after_.messages.size() || old_message == nullptr) continue;
      const MessageShape& message = after_.messages[difference.index];
      const bool smaller = difference.field == "content" && message.role != Role::assistant &&
                           2 * std::uint64_t{message.content.bytes} < old_message->content.bytes;
      shrunk += smaller && message.role == old_message->role ? 1 : 0;
    }
    if (shrunk >= 2) return true;
    if (alignment_.lost < 2 || after_.messages.size() >= before_.messages.size()) return false;
    const bool only_last_is_new = changed_ + 1 >= after_.messages.size();
    return only_last_is_new ? looks_like_summary() : alignment_.fresh < alignment_.lost;
  }

  // A conversation that was cut and goes on with one message: taken up from an earlier point, or
  // begun again from a summary.
  bool looks_like_summary() const {
    std::size_t first = 0;
    while (first < after_.messages.size() && is_system(after_.messages[first].role)) ++first;
    if (changed_ != first || changed_ >= after_.messages.size()) return false;
    if (after_.messages[changed_].role != Role::user) return false;
    const std::uint64_t now = after_.messages[changed_].bytes();
    return now > 400 && now > 2 * before_.messages[changed_].bytes();
  }

  // --- where ---

  void fill_first_difference() {
    FirstDifference first;
    first.token = departure_.at;
    first.byte = departure_.byte;
    first.estimated = !departure_.exact;
    if (after_.estimated) first.byte = std::size_t{4} * static_cast<std::size_t>(departure_.at);
    if (departure_.blamed == nullptr) {
      first.message = departure_.message;
      first.field = "template";
      if (departure_.message < after_.messages.size()) {
        first.role = after_.messages[departure_.message].role;
      }
      if (departure_.byte) take_excerpts(*before_.rendered, *after_.rendered, first);
    } else {
      fill_from(*departure_.blamed, first);
    }
    result_.first = std::move(first);
  }

  static void take_excerpts(std::string_view a, std::string_view b, FirstDifference& first) {
    Excerpts texts = excerpts(a, b);
    first.old_text = std::move(texts.old_text);
    first.new_text = std::move(texts.new_text);
    first.old_at = texts.old_at;
    first.new_at = texts.new_at;
  }

  void fill_from(const Difference& difference, FirstDifference& first) const {
    first.field = difference.field;
    first.tool = difference.tool;
    if (difference.part == Part::message) {
      first.message = difference.index;
      if (difference.index < after_.messages.size()) {
        first.role = after_.messages[difference.index].role;
      }
    }
    if (difference.before && difference.after) {
      take_excerpts(*difference.before, *difference.after, first);
    } else if (difference.part == Part::tools && before_.request && after_.request) {
      take_excerpts(joined_names(before_.tools), joined_names(after_.tools), first);
    } else if (difference.part == Part::option) {
      first.old_text = option_text(before_.request.get(), difference.field);
      first.new_text = option_text(after_.request.get(), difference.field);
    } else if (difference.part == Part::model) {
      first.old_text = before_.model;
      first.new_text = after_.model;
    }
  }

  void point_at_missing_reply() {
    FirstDifference first;
    if (result_.first) first = *result_.first;
    first.message = before_.messages.size();
    first.role = after_.messages[before_.messages.size()].role;
    first.field = "role";
    if (!first.token) {
      first.token = std::min(before_.history_end, after_.prompt_tokens);
      first.estimated = after_.estimated;
    }
    result_.first = std::move(first);
  }

  bool text_has(std::string_view word) const {
    if (!departure_.byte) return false;
    const Excerpts texts = excerpts(*before_.rendered, *after_.rendered);
    return texts.old_text.find(word) != std::string::npos ||
           texts.new_text.find(word) != std::string::npos;
  }

  bool blamed_text_has(std::string_view word) const {
    const Difference* difference = departure_.blamed;
    if (difference == nullptr || !difference->before || !difference->after) return false;
    return difference->before->find(word) != std::string_view::npos ||
           difference->after->find(word) != std::string_view::npos;
  }

  void fill_story() {
    story_.broken = departure_.broken;
    story_.exact = departure_.exact;
    story_.at = departure_.at;
    story_.prompt_tokens = after_.prompt_tokens;
    story_.reused = figures_.reused;
    story_.lost_before = lost_before_;
    story_.same_run = figures_.same_run;
    story_.facts = facts_;
    story_.keeps_reasoning = before_.keeps_reasoning;
    story_.messages_lost = alignment_.lost;
    if (departure_.blamed != nullptr) {
      story_.respelled = departure_.blamed->respelled;
      story_.dropped = departure_.blamed->dropped;
      story_.in_reply = departure_.blamed->in_reply;
    } else {
      story_.in_reply = is_reply(departure_.message);
      story_.by_template = true;
    }
    story_.billing_line = blamed_text_has("x-anthropic-billing-header");
    story_.reminder = blamed_text_has("<system-reminder>");
    story_.git_status = blamed_text_has("gitStatus") || blamed_text_has("git status");
  }

  const TurnShape& before_;
  const TurnShape& after_;
  const ReuseFacts& facts_;
  const Figures& figures_;
  Comparison comparison_;
  Departure departure_;
  std::size_t changed_ = 0;  // the first message that is not the same in both
  Alignment alignment_;
  Position lost_before_ = 0;  // before the difference, and behind it
  Position lost_after_ = 0;
  Story story_;
  Explanation result_;
};

}  // namespace

std::string place_text(const FirstDifference& first) {
  std::string text;
  if (first.message) {
    text = "messages[" + std::to_string(*first.message) + "]";
    if (first.role) text += " (" + std::string(to_string(*first.role)) + ")";
    if (!first.field.empty() && first.field != "role" && first.field != "template") {
      text += ", " + first.field;
    }
    return text;
  }
  text = first.field;
  if (!first.tool.empty()) text += " (" + first.tool + ")";
  return text;
}

Explanation explain(const TurnShape* before, const TurnShape& after, const ReuseFacts& facts,
                    const Figures& figures) {
  if (before == nullptr) {
    Explanation first;
    first.cause = Cause::first_turn;
    put_into_words({}, first);
    return first;
  }
  return Explainer(*before, after, facts, figures).run();
}

}  // namespace samovar
