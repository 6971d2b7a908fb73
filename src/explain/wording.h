// The sentences of an explanation. Private to explain(). Pure; any thread; nothing fails.
#pragma once

#include <optional>
#include <string>

#include "core/turn.h"
#include "explain/explanation.h"

namespace samovar {

// What the sentences need to know besides the explanation itself.
struct Story {
  bool broken = false;
  bool exact = false;
  bool by_template = false;  // the messages are the same, their rendering is not
  bool respelled = false;
  bool dropped = false;
  bool in_reply = false;
  bool billing_line = false;
  bool reminder = false;
  bool git_status = false;
  bool reply_missing = false;
  bool same_run = true;
  Position reply_tokens = 0;
  Position at = 0;  // where the prompts part
  Position prompt_tokens = 0;
  std::optional<Position> reused;
  std::optional<bool> keeps_reasoning;
  std::size_t messages_lost = 0;
  ReuseFacts facts;
};

// Fills in title, detail and remedy from cause, place and cost.
void put_into_words(const Story& story, Explanation& explanation);

// "12,345"
[[nodiscard]] std::string with_commas(std::uint64_t number);

}  // namespace samovar
