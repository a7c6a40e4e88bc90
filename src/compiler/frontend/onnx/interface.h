// What a model takes and gives, by name, as the file says it: for whoever brings data along.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/proto/model_file.h"

namespace attune::onnx {

struct InterfaceValue {
  std::string name = {};
  bool is_tensor = true;        // not a sequence, an optional or a map
  bool is_initialised = false;  // an input that is also an initialiser: it has a value already
};

struct Interface {
  std::vector<InterfaceValue> inputs = {}, outputs = {};  // in the order of the graph
};

Interface interface_of(const onnx_proto::ModelFile& model);

// Names of the outputs, in the order of the graph, each once: what the file names a second time is
// called NAME.2, and so on.
std::vector<std::string> output_names(const onnx_proto::ModelFile& model);

}  // namespace attune::onnx
