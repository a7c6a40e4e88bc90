#include "compiler/ops/definitions/pointwise.h"

#include <fmt/format.h>

namespace attune::ops {
namespace {

std::string_view name_of(TypeSet set) {
  switch (set) {
    case TypeSet::Floats:
      return "floats";
    case TypeSet::Integers:
      return "integers";
    case TypeSet::Numbers:
      return "numbers";
    case TypeSet::Bool:
      return "bool";
    case TypeSet::Any:
      return "any elements";
  }
  CHECK(false, "every set has a name");
}

}  // namespace

bool contains(TypeSet set, ir::DType type) {
  switch (set) {
    case TypeSet::Floats:
      return type.is_float();
    case TypeSet::Integers:
      return type.is_int();
    case TypeSet::Numbers:
      return type.is_float() || type.is_int();
    case TypeSet::Bool:
      return type.is_bool();
    case TypeSet::Any:
      return true;
  }
  CHECK(false, "every set is handled");
}

Status check_same_types(const OpCall& call, TypeSet set) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i)) continue;
    if (!contains(set, call.inputs[i].dtype)) {
      return invalid(
          fmt::format("{} of {}, needs {}", call.name, to_string(call.inputs[i]), name_of(set)));
    }
    if (call.inputs[i].dtype != call.inputs[0].dtype) {
      return invalid(fmt::format("{} of {} and {}, whose types differ", call.name,
                                 to_string(call.inputs[0]), to_string(call.inputs[i])));
    }
  }
  return {};
}

Types broadcast_type(const OpCall& call, ir::DType type) {
  std::vector<std::vector<std::int64_t>> shapes;
  bool all_static = true;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i)) continue;
    shapes.push_back(call.inputs[i].shape);
    all_static &= call.inputs[i].is_static();
  }
  ATTUNE_ASSIGN(std::vector<std::int64_t> shape, broadcast_shape(shapes));
  TensorType result{type, std::move(shape), {}};
  if (all_static) return std::vector{result};
  result.extents.assign(result.shape.size(), kConstantExtent);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorType& input = call.inputs[i];
    if (!call.has(i) || input.extents.empty()) continue;
    const std::size_t offset = result.shape.size() - input.shape.size();
    for (std::size_t d = 0; d < input.shape.size(); ++d) {
      int& extent = result.extents[offset + d];
      if (extent == kConstantExtent) extent = input.extents[d];
    }
  }
  return std::vector{result};
}

ir::DType computed_in(ir::DType type) {
  return type == ir::kF16 || type == ir::kBF16 ? ir::kF32 : type;
}

ir::Expr widened(const ir::Expr& value) {
  return value ? ir::cast(computed_in(value.type()), value) : value;
}

Values widened(const Values& values) {
  Values wide;
  for (const ir::Expr& value : values) wide.push_back(widened(value));
  return wide;
}

}  // namespace attune::ops
