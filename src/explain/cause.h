// Why a turn computed again what an earlier one had computed: the classes of an explanation and
// their names, which are part of the API and never change their meaning. Pure; cannot fail.
#pragma once

#include <string>
#include <vector>

namespace samovar {

enum class Cause {
  none,        // nothing, or too little to speak of, was computed again
  first_turn,  // there is no earlier turn to compare with

  // A part of the text differs in one word only, of a kind that differs in every request.
  unique_id,
  time_or_date,
  counter_or_hash,
  whitespace,

  tool_order,
  tool_schema_changed,
  tools_added_or_removed,
  system_text_edited,
  history_edited,
  history_compacted,
  reply_altered,
  reply_missing,  // the turn before got a reply, and the conversation goes on without it
  reasoning_dropped_by_template,
  reasoning_dropped_by_client,
  template_or_option_changed,
  model_changed,

  // The text is the same, but the state that belongs to it was not there.
  evicted,       // it had to make room, in memory or on disk
  never_stored,  // or nobody remembers that it was
  restore_failed,
  partly_reused_granularity,  // the nearest point to resume from lies well before the difference
};

// "unique_id", "time_or_date", ...
[[nodiscard]] const char* to_string(Cause cause);

// The names of all that are misses: not `none`, not `first_turn`.
[[nodiscard]] std::vector<std::string> miss_classes();

}  // namespace samovar
