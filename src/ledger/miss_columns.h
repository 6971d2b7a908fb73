// An explanation as columns of a turn, and back. Old and new text are kept only with turns whose
// text is kept. Private to src/ledger. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/tokens.h"
#include "explain/explanation.h"

namespace samovar {

struct MissColumns {
  std::string cause;  // empty: not known
  std::string title;
  std::string detail;
  std::string remedy;
  Position tokens_lost = 0;
  bool estimated = false;
  std::int64_t lost_us = -1;  // -1: not known; likewise below
  bool has_place = false;
  std::int64_t token = -1;
  std::int64_t byte = -1;
  bool place_estimated = false;
  std::int64_t message = -1;
  std::int64_t role = -1;
  std::string field;
  std::string tool;
  std::string old_text;
  std::string new_text;
  std::int64_t old_at = 0;
  std::int64_t new_at = 0;
  std::string kept_reply;
};

[[nodiscard]] MissColumns to_columns(const std::optional<Explanation>& miss, bool with_text);

// A cause that this version does not know is none.
[[nodiscard]] std::optional<Explanation> to_explanation(const MissColumns& columns);

// Calls visit(name, field) for every column.
template <class Columns, class Visit>
void visit_miss(Columns& c, Visit&& visit) {
  visit("miss_cause", c.cause);
  visit("miss_title", c.title);
  visit("miss_detail", c.detail);
  visit("miss_remedy", c.remedy);
  visit("miss_tokens_lost", c.tokens_lost);
  visit("miss_estimated", c.estimated);
  visit("miss_lost_us", c.lost_us);
  visit("miss_has_place", c.has_place);
  visit("miss_token", c.token);
  visit("miss_byte", c.byte);
  visit("miss_place_estimated", c.place_estimated);
  visit("miss_message", c.message);
  visit("miss_role", c.role);
  visit("miss_field", c.field);
  visit("miss_tool", c.tool);
  visit("miss_old_text", c.old_text);
  visit("miss_new_text", c.new_text);
  visit("miss_old_at", c.old_at);
  visit("miss_new_at", c.new_at);
  visit("miss_kept_reply", c.kept_reply);
}

}  // namespace samovar
