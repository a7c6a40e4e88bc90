#include "app/verbs/zoo.h"

#include <nlohmann/json.hpp>

#include "compiler/frontend/zoo/zoo.h"

namespace attune::verbs {

std::vector<ZooModel> zoo_models() {
  std::vector<ZooModel> models;
  for (const zoo::ModelInfo& info : zoo::models()) models.push_back({info.name, info.what});
  return models;
}

std::string to_json(const std::vector<ZooModel>& models) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ZooModel& model : models) list.push_back({{"name", model.name}, {"what", model.what}});
  return nlohmann::ordered_json{{"models", list}}.dump();
}

Status export_zoo_model(const std::string& name, const std::string& path) {
  return zoo::export_model(name, path);
}

}  // namespace attune::verbs
