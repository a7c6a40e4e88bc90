// The models that Attune brings along, for lists and as ONNX files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace attune::verbs {

struct ZooModel {
  std::string name = {};
  std::string what = {};
};

std::vector<ZooModel> zoo_models();
// {"models": [{"name": …, "what": …}]}
std::string to_json(const std::vector<ZooModel>& models);
Status export_zoo_model(const std::string& name, const std::string& path);

}  // namespace attune::verbs
