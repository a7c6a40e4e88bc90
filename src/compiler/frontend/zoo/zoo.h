// Well-known models built in memory, with weights from a fixed seed: no download, and the same
// bytes on every machine. Architectures are torchvision's, for one image or sequence at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/frontend/onnx/proto/model_file.h"

namespace attune::zoo {

struct ModelInfo {
  std::string name;
  std::string what;  // one line for a list
};

std::vector<ModelInfo> models();
std::vector<std::string> names();
bool has(std::string_view name);

// The model, built anew by each call; an unknown name is an error that suggests the nearest one.
Result<::onnx::ModelProto> build(std::string_view name);
// The same as something that can be imported like a file.
Result<onnx_proto::ModelFile> open(std::string_view name);
// Writes the model as an ONNX file.
Status export_model(std::string_view name, const std::string& path);

}  // namespace attune::zoo
