#include "explain/cause.h"

namespace samovar {

const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::first_turn:
      return "first_turn";
    case Cause::unique_id:
      return "unique_id";
    case Cause::time_or_date:
      return "time_or_date";
    case Cause::counter_or_hash:
      return "counter_or_hash";
    case Cause::whitespace:
      return "whitespace";
    case Cause::tool_order:
      return "tool_order";
    case Cause::tool_schema_changed:
      return "tool_schema_changed";
    case Cause::tools_added_or_removed:
      return "tools_added_or_removed";
    case Cause::system_text_edited:
      return "system_text_edited";
    case Cause::history_edited:
      return "history_edited";
    case Cause::history_compacted:
      return "history_compacted";
    case Cause::reply_altered:
      return "reply_altered";
    case Cause::reply_missing:
      return "reply_missing";
    case Cause::reasoning_dropped_by_template:
      return "reasoning_dropped_by_template";
    case Cause::reasoning_dropped_by_client:
      return "reasoning_dropped_by_client";
    case Cause::template_or_option_changed:
      return "template_or_option_changed";
    case Cause::model_changed:
      return "model_changed";
    case Cause::evicted:
      return "evicted";
    case Cause::never_stored:
      return "never_stored";
    case Cause::restore_failed:
      return "restore_failed";
    case Cause::partly_reused_granularity:
      return "partly_reused_granularity";
  }
  return "none";
}

std::vector<std::string> miss_classes() {
  std::vector<std::string> names;
  constexpr int kFirst = static_cast<int>(Cause::unique_id);
  constexpr int kLast = static_cast<int>(Cause::partly_reused_granularity);
  for (int cause = kFirst; cause <= kLast; ++cause) {
    names.emplace_back(to_string(static_cast<Cause>(cause)));
  }
  return names;
}

}  // namespace samovar
