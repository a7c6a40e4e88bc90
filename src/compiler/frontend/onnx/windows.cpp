#include "compiler/frontend/onnx/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::onnx {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

}  // namespace

Result<Extents> list_attribute(NodeContext& node, std::string_view key, std::size_t count,
                               std::int64_t fallback) {
  const auto given = node.integers(key);
  if (!given || given->empty()) return Extents(count, fallback);
  if (given->size() != count) {
    return invalid(fmt::format("{} has {} numbers, must have {}", key, given->size(), count));
  }
  for (const std::int64_t value : *given) {
    if (value < -kLargest || value > kLargest) {
      return invalid(fmt::format("{} has the number {}", key, value));
    }
  }
  return *given;
}

Result<WindowAttributes> window_attributes(NodeContext& node, ValueId data, Extents kernel) {
  const Extents shape = node.shape(data);
  if (shape.size() < 3) {
    return invalid(fmt::format("{} has no spatial dimensions", ops::to_string(node.type(data))));
  }
  const std::size_t rank = shape.size() - 2;
  if (kernel.empty() && !node.has_attribute("kernel_shape"))
    return invalid("it has no kernel_shape");
  ATTUNE_ASSIGN(Extents wanted, list_attribute(node, "kernel_shape", rank, 0));
  if (!node.has_attribute("kernel_shape")) wanted = kernel;
  if (wanted.size() != rank) {
    return invalid(
        fmt::format("the weight has {} spatial dimensions, the data {}", wanted.size(), rank));
  }
  if (!kernel.empty() && wanted != kernel) return invalid("kernel_shape is not that of the weight");
  WindowAttributes window{wanted, {}, {}, {}, {}};
  ATTUNE_ASSIGN(window.strides, list_attribute(node, "strides", rank, 1));
  ATTUNE_ASSIGN(window.dilations, list_attribute(node, "dilations", rank, 1));
  ATTUNE_ASSIGN(window.pads, list_attribute(node, "pads", 2 * rank, 0));
  const std::string automatic = node.word("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!same && automatic != "NOTSET" && automatic != "VALID" && !automatic.empty()) {
    return unsupported(fmt::format("auto_pad '{}' is not known", automatic));
  }
  if (automatic == "VALID") window.pads.assign(2 * rank, 0);
  const bool up = node.flag("ceil_mode");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t stride = window.strides[i], size = shape[i + 2];
    if (stride < 1 || window.dilations[i] < 1 || window.kernel[i] < 1) {
      return invalid("kernel, strides and dilations must be positive");
    }
    const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    std::int64_t& before = window.pads[i];
    std::int64_t& after = window.pads[i + rank];
    if (!same) continue;
    const std::int64_t total =
        std::max<std::int64_t>(0, ((size + stride - 1) / stride - 1) * stride + span - size);
    before = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    after = total - before;
  }
  window.counted = window.pads;
  for (std::size_t i = 0; up && i < rank; ++i) {
    const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t stride = window.strides[i], size = shape[i + 2], before = window.pads[i];
    const std::int64_t rest = size + before + window.pads[i + rank] - span;
    if (rest < 0) continue;
    std::int64_t positions = (rest + stride - 1) / stride + 1;
    if ((positions - 1) * stride >= size + before) --positions;  // it would begin in the border
    const std::int64_t needed = (positions - 1) * stride + span - size - before;
    // Exactly as much as the last window needs; less than the border where that has no window.
    if (needed > window.pads[i + rank] || needed + stride <= window.pads[i + rank]) {
      window.pads[i + rank] = needed;
    }
  }
  return window;
}

Attributes to_attributes(const WindowAttributes& window) {
  return {{"kernel_shape", window.kernel},
          {"strides", window.strides},
          {"pads", window.pads},
          {"dilations", window.dilations}};
}

}  // namespace attune::onnx
