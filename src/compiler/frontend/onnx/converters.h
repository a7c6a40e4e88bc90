// The operators of ONNX that the importer knows, each with the function that builds it. A new one
// is a function in the file of its family, its declaration below and one line in converters.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/frontend/onnx/node_context.h"

namespace attune::onnx {

using Converted = Result<std::vector<ValueId>>;

inline constexpr int kAnyNumber = 1 << 20;

struct Converter {
  std::string_view domain;  // empty: ai.onnx
  std::string_view op;
  Converted (*convert)(NodeContext&);
  int least_inputs;  // so many must be there
  int most_inputs;
  std::string_view attributes;  // all that it understands, separated by spaces
};

std::span<const Converter> converters();
const Converter* find_converter(std::string_view domain, std::string_view op);

// Constants and shapes (convert_constant.cpp).
Converted convert_constant(NodeContext& node);
Converted convert_constant_of_shape(NodeContext& node);
Converted convert_identity(NodeContext& node);
Converted convert_shape(NodeContext& node);
Converted convert_size(NodeContext& node);

}  // namespace attune::onnx
