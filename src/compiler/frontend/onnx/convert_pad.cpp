// Pad and CenterCropPad.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// Pads of all dimensions (begins, then ends) from those of some.
Result<Extents> pads_of(NodeContext& node) {
  const int rank = node.rank(node.input(0));
  const auto count = static_cast<std::size_t>(rank);
  Extents given;
  if (auto attribute = node.integers("pads")) {
    given = *attribute;
  } else {
    ATTUNE_ASSIGN(given, node.integers_input(1, "pads"));
  }
  Extents axes;
  if (node.has(3)) {
    ATTUNE_ASSIGN(axes, node.integers_input(3, "axes"));
    ATTUNE_ASSIGN(axes, node.axes(axes, rank));
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (given.size() != 2 * axes.size()) {
    return invalid(fmt::format("{} pads for {} dimensions", given.size(), axes.size()));
  }
  Extents pads(2 * count, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    pads[axis] = given[i];
    pads[axis + count] = given[i + axes.size()];
    for (const std::int64_t pad : {pads[axis], pads[axis + count]}) {
      if (pad < -(std::int64_t{1} << 40) || pad > (std::int64_t{1} << 40)) {
        return invalid(fmt::format("a pad is {}", pad));
      }
    }
  }
  return pads;
}

}  // namespace

Converted convert_pad(NodeContext& node) {
  const std::string mode = node.word("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return unsupported(fmt::format("mode '{}' is not known", mode));
  }
  ATTUNE_ASSIGN(const Extents pads, pads_of(node));
  std::vector<ValueId> operands{node.input(0)};
  if (mode == "constant" && node.has(2)) operands.push_back(node.input(2));
  if (mode == "constant" && node.real("value", 0) != 0) {
    operands.push_back(node.scalar(node.dtype(node.input(0)), node.real("value", 0)));
  }
  const bool nothing =
      std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad == 0; });
  if (nothing) return std::vector{node.input(0)};
  return one(node.add("pad", operands, {{"pads", pads}, {"mode", mode}}));
}

Converted convert_center_crop_pad(NodeContext& node) {
  ValueId value = node.input(0);
  ATTUNE_ASSIGN(const Extents sizes, node.integers_input(1, "shape"));
  const int rank = node.rank(value);
  Extents axes;
  if (auto given = node.integers("axes")) {
    ATTUNE_ASSIGN(axes, node.axes(*given, rank));
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (axes.size() != sizes.size()) {
    return invalid(fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  }
  Extents pads(2 * static_cast<std::size_t>(rank), 0);
  bool is_padded = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (sizes[i] < 0) {
      return invalid(fmt::format("dimension {} would have size {}", axis, sizes[i]));
    }
    const std::int64_t missing = sizes[i] - node.shape(value)[axis];
    if (missing < 0) {
      ATTUNE_ASSIGN(value, slice_axis(node, value, axes[i], -missing / 2, sizes[i]));
    } else if (missing > 0) {
      pads[axis] = missing / 2;
      pads[axis + static_cast<std::size_t>(rank)] = missing - missing / 2;
      is_padded = true;
    }
  }
  if (!is_padded) return std::vector{value};
  return one(node.add("pad", {value}, {{"pads", pads}, {"mode", std::string("constant")}}));
}

}  // namespace attune::onnx
