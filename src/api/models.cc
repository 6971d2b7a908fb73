#include "api/models.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"

namespace samovar {
namespace {

nlohmann::ordered_json model_json(const ServedModel& model) {
  return {{"id", model.id},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "samovar"},
          {"meta",
           {{"architecture", model.architecture},
            {"parameters", model.parameters},
            {"n_ctx", model.context},
            {"n_ctx_train", model.trained_context},
            {"vocab", model.vocab_size}}}};
}

}  // namespace

Models::Models(ServedModel model) : model_(std::move(model)) {}

HttpResponse Models::list() const {
  HttpResponse response;
  response.body = json_text(
      {{"object", "list"}, {"data", nlohmann::ordered_json::array({model_json(model_)})}});
  return response;
}

HttpResponse Models::get(std::string_view id) const {
  if (id != model_.id) {
    return error_response({ErrorKind::not_found, "there is no model '" + std::string(id) + "'",
                           "model", "this server has '" + model_.id + "'"});
  }
  HttpResponse response;
  response.body = json_text(model_json(model_));
  return response;
}

}  // namespace samovar
