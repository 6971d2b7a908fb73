#include "api/models.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// RFC 3339, in UTC.
std::string date_text(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

Json model_json(const ServedModel& model) {
  return {{"id", model.id},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "samovar"},
          {"type", "model"},
          {"display_name", model.id},
          {"created_at", date_text(model.created)},
          {"meta",
           {{"architecture", model.architecture},
            {"parameters", model.parameters},
            {"n_ctx", model.context},
            {"n_ctx_train", model.trained_context},
            {"vocab", model.vocab_size}}}};
}

Json sampling_json(const SamplingParams& sampling) {
  return {{"temperature", sampling.temperature},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"min_p", sampling.min_p},
          {"repeat_penalty", sampling.repeat_penalty},
          {"repeat_last_n", sampling.repeat_last_n},
          {"presence_penalty", sampling.presence_penalty},
          {"frequency_penalty", sampling.frequency_penalty},
          {"seed", sampling.seed ? Json(*sampling.seed) : Json()}};
}

}  // namespace

Models::Models(ServedModel model) : model_(std::move(model)) {}

HttpResponse Models::list() const {
  HttpResponse response;
  response.body = json_text({{"object", "list"},
                             {"data", Json::array({model_json(model_)})},
                             {"has_more", false},
                             {"first_id", model_.id},
                             {"last_id", model_.id}});
  return response;
}

HttpResponse Models::get(std::string_view id) const {
  if (id != model_.id) {
    return error_response({ErrorKind::not_found, "there is no model '" + std::string(id) + "'",
                           "model", "this server has '" + model_.id + "'"});
  }
  HttpResponse response;
  Json json = model_json(model_);
  json["modalities"] = {{"input", Json::array({"text"})}, {"output", Json::array({"text"})}};
  json["sequences"] = model_.sequences;
  json["default_sampling"] = sampling_json(model_.sampling);
  json["chat_template"] = model_.chat_template;
  response.body = json_text(json);
  return response;
}

}  // namespace samovar
