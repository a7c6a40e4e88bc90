// From ONNX models to graphs. Shapes are bound here: symbolic dimensions take the values that the
// caller gives, so every value of the graph has a known type. What a model computes from constants
// alone is computed right away.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/frontend/onnx/proto/model_file.h"
#include "compiler/graph/builder.h"

namespace attune::onnx {

struct ImportOptions {
  // Shapes of inputs by name. A symbolic dimension gets its value from any input that has it.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> shapes = {};
  // Inputs that are constants of the graph instead.
  std::map<std::string, ops::ConstantPtr, std::less<>> constants = {};
  // The largest values that inputs with whole numbers will have, one for all elements or one each.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> maxima = {};
  graph::Folding folding = {};
};

// What the caller may want to know besides the error.
struct ImportReport {
  // The import failed because an operand must be a constant that is computed from these inputs of
  // the model: it may succeed when they are given in ImportOptions::constants.
  std::vector<std::string> needed_constants = {};
};

// An operator that is not supported fails the import before anything is built; the error names all
// of them.
Result<graph::Graph> import_model(const onnx_proto::ModelFile& model, const ImportOptions& options,
                                  ImportReport* report = nullptr);

// A tensor of a file as a constant; fails for element types that graphs do not have.
Result<ops::ConstantPtr> constant_of(const onnx_proto::TensorBytes& tensor);
// The element type for a number of onnx::TensorProto::DataType.
Result<ir::DType> element_type(std::int32_t data_type);

// The inputs a caller has to feed: those of the graph without its initialisers, in order.
std::vector<std::string> input_names(const onnx_proto::ModelFile& model);

}  // namespace attune::onnx
