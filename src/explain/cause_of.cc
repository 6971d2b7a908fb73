#include "explain/cause_of.h"

#include <algorithm>

#include "explain/text_change.h"

namespace samovar {
namespace {

bool is_system(Role role) { return role == Role::system || role == Role::developer; }

class Judgement {
 public:
  Judgement(const Comparison& comparison, const Departure& departure, const Loss& loss)
      : comparison_(comparison),
        before_(comparison.before),
        after_(comparison.after),
        departure_(departure),
        loss_(loss) {}

  Cause run() const {
    const bool changed = departure_.broken && loss_.at < after_.prompt_tokens;
    if (changed && departure_.blamed != nullptr && departure_.blamed->part == Part::model) {
      return Cause::model_changed;
    }
    if (loss_.total() > kSmallLoss) {
      const bool content =
          changed && loss_.after > 0 &&
          (loss_.before <= kSmallLoss || loss_.after >= loss_.before || loss_.after > kSmallLoss);
      if (content) return cause_of_change();
      // How far back the nearest point to resume from lies would not have mattered, had nothing
      // changed before the end of the earlier turn's history.
      const Cause state = cause_of_state();
      const bool within = changed && loss_.at < comparison_.before.history_end;
      return within && state == Cause::partly_reused_granularity ? cause_of_change() : state;
    }
    if (reply_is_missing(comparison_)) return Cause::reply_missing;
    if (is_compacted()) return Cause::history_compacted;
    return Cause::none;
  }

 private:
  Cause cause_of_state() const {
    const ReuseFacts& facts = comparison_.facts;
    const Position wanted = loss_.at - kSmallLoss;
    if (facts.restores_failed > 0) return Cause::restore_failed;
    if (facts.matched >= wanted || facts.stored >= wanted) {
      return Cause::partly_reused_granularity;
    }
    // What was evicted is to blame if it would have spared half of the loss.
    const Position evicted = std::min(std::max(facts.evicted_memory, facts.evicted_disk), loss_.at);
    const Position spared = evicted - (loss_.at - loss_.before);
    return spared > 0 && 2 * spared >= loss_.before ? Cause::evicted : Cause::never_stored;
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
    if (loss_.at >= before_.history_end || is_reply(departure_.message)) {
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
    if (difference.in_reply && reply_is_missing(comparison_)) return Cause::reply_missing;
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
      // A reply that was cut comes back as far as its client received it: nobody altered it.
      const bool was_cut = difference.in_reply && before_.reply && !before_.reply->complete;
      if (was_cut) return Cause::partly_reused_granularity;
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
    if (loss_.alignment.lost < 2 || after_.messages.size() >= before_.messages.size()) return false;
    const bool only_last_is_new = loss_.changed + 1 >= after_.messages.size();
    return only_last_is_new ? looks_like_summary() : loss_.alignment.fresh < loss_.alignment.lost;
  }

  // A conversation that was cut and goes on with one message: taken up from an earlier point, or
  // begun again from a summary.
  bool looks_like_summary() const {
    std::size_t first = 0;
    while (first < after_.messages.size() && is_system(after_.messages[first].role)) ++first;
    if (loss_.changed != first || loss_.changed >= after_.messages.size()) return false;
    if (after_.messages[loss_.changed].role != Role::user) return false;
    const std::uint64_t now = after_.messages[loss_.changed].bytes();
    return now > 400 && now > 2 * before_.messages[loss_.changed].bytes();
  }

  bool text_has(std::string_view word) const {
    if (!departure_.byte) return false;
    const Excerpts texts = excerpts(*before_.rendered, *after_.rendered);
    return texts.old_text.find(word) != std::string::npos ||
           texts.new_text.find(word) != std::string::npos;
  }

  const Comparison& comparison_;
  const TurnShape& before_;
  const TurnShape& after_;
  const Departure& departure_;
  const Loss& loss_;
};

}  // namespace

Cause cause_of(const Comparison& comparison, const Departure& departure, const Loss& loss) {
  return Judgement(comparison, departure, loss).run();
}

bool reply_is_missing(const Comparison& comparison) {
  const TurnShape& before = comparison.before;
  const TurnShape& after = comparison.after;
  const std::size_t place = before.messages.size();
  if (place == 0 || place >= after.messages.size()) return false;
  if (before.reply && before.reply->tokens == 0) return false;
  const MessageShape& last = before.messages[place - 1];
  const bool asked = last.role == Role::user || last.role == Role::tool;
  return asked && after.messages[place].role == Role::user &&
         last.identity() == after.messages[place - 1].identity();
}

}  // namespace samovar
