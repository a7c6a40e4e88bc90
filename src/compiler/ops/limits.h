// What operators refuse: sizes that are zero, negative or huge, tensors beyond the memory limit and
// element types without a meaning. Every builder checks its options with these, so that all errors
// read alike.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ops {

// Single extents stay below this, so that sums and products of two never overflow.
inline constexpr std::int64_t kLargestSize = 2147483647;
// No tensor of a program is larger.
inline constexpr double kLargestTensorGib = 64;

// least <= value <= kLargestSize.
Status check_size(std::string_view name, std::int64_t value, std::int64_t least = 1);

struct NamedSize {
  std::string_view name;
  std::int64_t value;
  std::int64_t least = 1;
};
Status check_sizes(std::span<const NamedSize> sizes);

Status check_dtype(std::string_view op, ir::DType type, std::span<const ir::DType> accepted);

// The program itself when all its tensors fit into memory; parameters are looked at first.
Result<ir::Program> check_memory(ir::Program program);

}  // namespace attune::ops
