// What converters of ONNX's shape, index, window, sequence and control operators share.
#pragma once

#include <array>

#include "compiler/frontend/onnx/bounds.h"
#include "compiler/frontend/onnx/converters.h"

namespace attune::onnx {

using Extents = std::vector<std::int64_t>;

// Elements start … start + size - 1 of one dimension; the value itself if these are all.
Result<ValueId> slice_axis(NodeContext& node, ValueId value, std::int64_t axis, std::int64_t start,
                           std::int64_t size);
// The value itself if the order is that already.
Result<ValueId> transpose(NodeContext& node, ValueId value, Extents perm);

// The one element of a constant, as an integer; nothing if it is no such constant.
std::optional<std::int64_t> known_number(NodeContext& node, ValueId value);

// Slice and Range with bounds that are known at run time (convert_dynamic.cpp).
Converted convert_dynamic_slice(NodeContext& node);
Converted convert_dynamic_range(NodeContext& node);
// An operator of ONNX as a function of the runtime, with a result of at most this type.
Result<ValueId> add_on_host(NodeContext& node, const std::string& op, std::vector<ValueId> inputs,
                            Attributes attributes, const TensorType& result);

// With a run-time extent wherever a size is not exact.
Result<TensorType> bounded_type(NodeContext& node, ir::DType dtype, const Bounds& sizes);
// To sizes that are known at run time (convert_bounded.cpp).
Converted convert_bounded_constant(NodeContext& node, const ConstantPtr& value);
Converted convert_bounded_expand(NodeContext& node);
Converted convert_bounded_tile(NodeContext& node);

}  // namespace attune::onnx
