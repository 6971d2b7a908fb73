#include "explain/explain.h"

#include <algorithm>
#include <string>

#include "explain/cause_of.h"
#include "explain/departure.h"
#include "explain/loss.h"
#include "explain/text_change.h"
#include "explain/wording.h"

namespace samovar {
namespace {

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
        departure_(find_departure(comparison_)),
        loss_(measure_loss(comparison_, departure_)) {}

  Explanation run() {
    result_.cause = cause_of(comparison_, departure_, loss_);
    result_.tokens_lost = loss_.total();
    result_.estimated = !departure_.exact || loss_.after > 0;
    if (figures_.prefill_us_per_token > 0) {
      result_.seconds_lost = result_.tokens_lost * figures_.prefill_us_per_token / 1e6;
    }
    if (departure_.broken) fill_first_difference();
    if (reply_is_missing(comparison_)) {
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
  void fill_first_difference() {
    FirstDifference first;
    first.token = loss_.at;
    first.byte = departure_.byte;
    first.estimated = !departure_.exact;
    if (after_.estimated) first.byte = std::size_t{4} * static_cast<std::size_t>(loss_.at);
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

  // True if `word` stands close to where the blamed texts part, in either of them.
  bool near_difference(std::string_view word, std::size_t bytes_before,
                       std::size_t bytes_after) const {
    const Difference* difference = departure_.blamed;
    if (difference == nullptr || !difference->before || !difference->after) return false;
    const std::size_t at = common_prefix(*difference->before, *difference->after);
    const std::size_t begin = at > bytes_before ? at - bytes_before : 0;
    const auto has = [&](std::string_view text) {
      return text.substr(begin, at - begin + bytes_after).find(word) != std::string_view::npos;
    };
    return has(*difference->before) || has(*difference->after);
  }

  // True if the blamed texts part within the first bytes of a line that begins with `start`.
  bool in_line_that_begins(std::string_view start, std::size_t bytes) const {
    const Difference* difference = departure_.blamed;
    if (difference == nullptr || !difference->before || !difference->after) return false;
    const std::string_view text = *difference->after;
    const std::size_t at = common_prefix(*difference->before, text);
    const std::size_t line = text.substr(0, at).rfind('\n') + 1;  // npos + 1: the first line
    return at - line <= bytes && text.substr(line).starts_with(start);
  }

  void fill_story() {
    story_.broken = departure_.broken;
    story_.exact = departure_.exact;
    story_.at = loss_.at;
    story_.prompt_tokens = after_.prompt_tokens;
    story_.reused = figures_.reused;
    story_.same_run = figures_.same_run;
    story_.facts = facts_;
    story_.keeps_reasoning = before_.keeps_reasoning;
    story_.messages_lost = loss_.alignment.lost;
    if (departure_.blamed != nullptr) {
      story_.respelled = departure_.blamed->respelled;
      story_.dropped = departure_.blamed->dropped;
      story_.in_reply = departure_.blamed->in_reply;
    } else {
      story_.in_reply = departure_.message == before_.messages.size();
      story_.by_template = true;
    }
    // The line is some 100 bytes long; a git status has many lines, and a reminder may have.
    story_.billing_line = in_line_that_begins("x-anthropic-billing-header:", 120);
    story_.git_status =
        near_difference("gitStatus", 1500, 20) || near_difference("git status", 1500, 20);
    story_.reminder = near_difference("<system-reminder>", 300, 40);
  }

  const TurnShape& before_;
  const TurnShape& after_;
  const ReuseFacts& facts_;
  const Figures& figures_;
  Comparison comparison_;
  Departure departure_;
  Loss loss_;
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
