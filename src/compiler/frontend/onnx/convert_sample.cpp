// GridSample and AffineGrid.
#include <fmt/format.h>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {

Converted convert_grid_sample(NodeContext& node) {
  std::string mode = node.word("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const std::string padding = node.word("padding_mode", "zeros");
  if (mode != "linear" && mode != "nearest" && mode != "cubic") {
    return unsupported(fmt::format("mode '{}' is not known", mode));
  }
  if (padding != "zeros" && padding != "border" && padding != "reflection") {
    return unsupported(fmt::format("padding_mode '{}' is not known", padding));
  }
  return one(node.add("grid_sample", node.inputs(),
                      {{"mode", mode},
                       {"padding_mode", padding},
                       {"align_corners", node.integer("align_corners", 0)}}));
}

Converted convert_affine_grid(NodeContext& node) {
  ATTUNE_ASSIGN(const Extents size, node.integers_input(1, "size"));
  return one(node.add("affine_grid", {node.input(0)},
                      {{"size", size}, {"align_corners", node.integer("align_corners", 0)}}));
}

}  // namespace attune::onnx
