#include "api/explain_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/text_or_null.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json first_difference_json(const FirstDifference& first, ExplainTexts texts) {
  // A difference has two sides, one of which may be empty; no texts at all are no difference.
  const bool shown = texts == ExplainTexts::shown && first.old_text != first.new_text;
  Json json;
  json["token"] = or_null(first.token);
  json["byte"] = or_null(first.byte);
  json["estimated"] = first.estimated;
  json["message"] = or_null(first.message);
  json["role"] = first.role ? Json(to_string(*first.role)) : Json(nullptr);
  json["field"] = text_or_null(first.field);
  json["tool"] = text_or_null(first.tool);
  json["old"] = shown ? Json(first.old_text) : Json(nullptr);
  json["new"] = shown ? Json(first.new_text) : Json(nullptr);
  return json;
}

}  // namespace

nlohmann::ordered_json explanation_json(const Explanation& explanation, ExplainTexts texts) {
  Json json;
  json["class"] = to_string(explanation.cause);
  json["title"] = explanation.title;
  json["detail"] = explanation.detail;
  json["remedy"] = explanation.remedy;
  json["tokens_lost"] = explanation.tokens_lost;
  json["estimated"] = explanation.estimated;
  json["seconds_lost"] = explanation.seconds_lost
                             ? Json(std::round(*explanation.seconds_lost * 1000.0) / 1000.0)
                             : Json(nullptr);
  json["first_difference"] =
      explanation.first ? first_difference_json(*explanation.first, texts) : Json(nullptr);
  json["kept_reply"] = text_or_null(explanation.kept_reply);
  return json;
}

}  // namespace samovar
