#include "bench/server_facts.h"

#include <nlohmann/json.hpp>

namespace samovar::bench {
namespace {

using Json = nlohmann::json;

const Json* find(const Json* json, const char* name) {
  if (json == nullptr || !json->is_object()) return nullptr;
  const auto found = json->find(name);
  return found == json->end() ? nullptr : &*found;
}

std::string text(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

template <class T>
void count(const Json* value, std::optional<T>& into) {
  if (value == nullptr || !value->is_number() || value->get<double>() < 1) return;
  into = static_cast<T>(value->get<double>());
}

}  // namespace

std::string base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

TargetFacts read_facts(std::string_view models, std::string_view props) {
  TargetFacts facts;
  const Json list = Json::parse(models, nullptr, false);
  const Json* data = find(&list, "data");
  if (data != nullptr && data->is_array() && !data->empty()) {
    const Json* model = &data->front();
    const Json* meta = find(model, "meta");
    facts.model_id = text(find(model, "id"));
    facts.model = base_name(facts.model_id);
    facts.server = text(find(model, "owned_by"));
    facts.architecture = text(find(meta, "architecture"));
    count(find(meta, "parameters"), facts.parameters);
    count(find(meta, "n_params"), facts.parameters);
    count(find(meta, "size"), facts.model_bytes);
    count(find(meta, "n_ctx"), facts.context);
  }
  const Json said = Json::parse(props, nullptr, false);
  if (const std::string build = text(find(&said, "build_info")); !build.empty()) {
    facts.server = "llama-server " + build;
  }
  if (const std::string path = text(find(&said, "model_path")); !path.empty()) {
    facts.model = base_name(path);
  }
  count(find(find(&said, "default_generation_settings"), "n_ctx"), facts.context);
  return facts;
}

}  // namespace samovar::bench
