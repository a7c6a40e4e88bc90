// The geometry of convolutions and pools as ONNX writes it: auto_pad and ceil_mode resolved into
// pads, all lists written out.
#pragma once

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {

struct WindowAttributes {
  Extents kernel, strides, dilations;
  Extents pads;     // all begins, then all ends; ends may make room for a last window (ceil_mode)
  Extents counted;  // the pads without that room
};

// Of data [n, c, spatial…]. `kernel` is what the operator knows of the kernel's shape (empty: the
// attribute is needed).
Result<WindowAttributes> window_attributes(NodeContext& node, ValueId data, Extents kernel);

// kernel_shape, strides, dilations and pads as attributes of the graph's operators.
Attributes to_attributes(const WindowAttributes& window);

// The list of an attribute, with `fallback` for each of `count` elements where it is missing.
Result<Extents> list_attribute(NodeContext& node, std::string_view key, std::size_t count,
                               std::int64_t fallback);

}  // namespace attune::onnx
