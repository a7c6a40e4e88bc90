// The operators of ONNX that the importer knows, each with the function that builds it. A new one
// is a function, in a file of its own or of its family, and one line in list.inc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/frontend/onnx/node_context.h"

namespace attune::onnx {

using Converted = Result<std::vector<ValueId>>;

// The results of an operator with one output.
inline Converted one(Result<ValueId> value) {
  if (!value.ok()) return std::move(value).error();
  return std::vector{*value};
}

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

#define ATTUNE_CONVERTER(domain, op, convert, least, most, attributes) \
  Converted convert(NodeContext& node);
#include "compiler/frontend/onnx/list.inc"

}  // namespace attune::onnx
