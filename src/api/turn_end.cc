#include "api/turn_end.h"

#include <nlohmann/json.hpp>

#include "api/explain_json.h"
#include "api/json_text.h"
#include "api/reply_json.h"
#include "api/turn_json.h"

namespace samovar {

nlohmann::ordered_json end_of_turn(const TurnFinished& event, const char* finish,
                                   const ChatMessage& message, TurnRecorder* recorder) {
  nlohmann::ordered_json timings = timings_json(event.timings);
  if (recorder == nullptr) return timings;
  recorder->finished(event, {finish, message, json_text(message_json(message))});
  const TurnReport report = recorder->report();
  timings["turn"] = report.id;
  timings["session"] = report.session;
  timings["replayed_replies"] = report.replayed;
  timings["reasoning_restored"] = report.reasoning_restored;
  timings["neutralised"] = word_list(report.neutralised);
  timings["tool_order"] = report.tool_order.empty() ? nlohmann::ordered_json()
                                                    : nlohmann::ordered_json(report.tool_order);
  timings["miss"] =
      report.miss ? explanation_json(*report.miss, ExplainTexts::hidden) : nlohmann::ordered_json();
  return timings;
}

}  // namespace samovar
