// Resize and Upsample with scales, or a region, that are known at run time only. The model states
// the shape of the result; scales that make another one are refused at run time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/onnx/open_resize.h"

namespace attune::onnx {
namespace {

constexpr std::int64_t kFewTaps = 4;

struct Taps {
  std::int64_t first = 0, count = 1;
};

// All that an axis may need: scales below the one of the sizes do not occur.
Taps taps_of(const ResizeRules& rules, const ResizeAxis& axis) {
  if (rules.mode == "nearest") return {};
  const double reach = rules.mode == "linear" ? 1 : 2;
  const double least = static_cast<double>(axis.result) / static_cast<double>(axis.size);
  const double shrink = rules.antialias ? std::min(least, 1.0) : 1;
  const auto first = static_cast<std::int64_t>(std::floor(-reach / shrink)) + 1;
  return {first, 2 - 2 * first};
}

// The scales, once they are seen to give the sizes that the model states.
Result<ValueId> checked_scales(NodeContext& node, const OpenResize& resize) {
  ir::Array before(node.dtype(resize.scales), {static_cast<std::int64_t>(resize.axes.size())});
  ir::Array after = before;
  for (std::size_t i = 0; i < resize.axes.size(); ++i) {
    const ResizeAxis& axis = resize.dimensions[static_cast<std::size_t>(resize.axes[i])];
    before.set_real(static_cast<std::int64_t>(i), static_cast<double>(axis.size));
    after.set_real(static_cast<std::int64_t>(i), static_cast<double>(axis.result));
  }
  const ValueId sizes =
      node.make("mul", {resize.scales, node.constant(ops::make_constant(std::move(before)))});
  const ValueId same = node.make(
      "equal", {node.make("floor", {sizes}), node.constant(ops::make_constant(std::move(after)))});
  const ValueId number = node.make("cast", {same}, {{"to", std::string("i32")}});
  const ValueId all =
      node.make("reduce_min", {number}, {{"axes", Extents{0}}, {"keepdims", std::int64_t{0}}});
  const ValueId fits = node.make("cast", {all}, {{"to", std::string("bool")}});
  if (node.failed()) return kNoValue;
  return node.add("require", {fits, resize.scales},
                  {{"expected", std::int64_t{1}},
                   {"message", fmt::format("the scales of {} give another shape than the model "
                                           "states for its result",
                                           node.label())}});
}

Attributes table_attributes(const OpenResize& resize, std::size_t number) {
  const ResizeRules& rules = resize.rules;
  const ResizeAxis& axis = resize.dimensions[static_cast<std::size_t>(resize.axes[number])];
  const Taps taps = taps_of(rules, axis);
  return {{"mode", rules.mode},
          {"coordinates", rules.coordinates},
          {"nearest", rules.nearest},
          {"cubic_a", rules.cubic_a},
          {"exclude_outside", std::int64_t{rules.exclude_outside}},
          {"antialias", std::int64_t{rules.antialias}},
          {"size", axis.size},
          {"result", axis.result},
          {"first", taps.first},
          {"taps", taps.count},
          {"scale", axis.scale},
          {"number", static_cast<std::int64_t>(number)},
          {"axes", static_cast<std::int64_t>(resize.axes.size())}};
}

}  // namespace

Result<ValueId> resize_at_run_time(NodeContext& node, ValueId value, const OpenResize& resize) {
  std::vector<ValueId> operands{resize.scales, resize.roi};
  if (resize.scales != kNoValue) {
    ATTUNE_ASSIGN(operands[0], checked_scales(node, resize));
  }
  for (std::size_t i = 0; i < resize.axes.size(); ++i) {
    const std::int64_t dimension = resize.axes[i];
    const Attributes attributes = table_attributes(resize, i);
    ATTUNE_ASSIGN(const ValueId places, node.add("resize_places", operands, attributes));
    if (resize.rules.mode == "nearest") {
      ATTUNE_ASSIGN(const ValueId row, node.reshape(places, {node.shape(places)[0]}));
      ATTUNE_ASSIGN(value, node.add("gather", {value, row}, {{"axis", dimension}}));
    } else {
      ATTUNE_ASSIGN(const ValueId weights, node.add("resize_weights", operands, attributes));
      const bool few = node.shape(places)[1] <= kFewTaps;
      ATTUNE_ASSIGN(value, node.add(few ? "resample" : "resample_wide", {value, places, weights},
                                    {{"axis", dimension}}));
    }
    if (resize.rules.coordinates != "tf_crop_and_resize") continue;
    ATTUNE_ASSIGN(const ValueId outside, node.add("resize_outside", operands, attributes));
    Extents shape(node.shape(value).size(), 1);
    shape[static_cast<std::size_t>(dimension)] = node.shape(outside)[0];
    ATTUNE_ASSIGN(const ValueId mask, node.reshape(outside, shape));
    ATTUNE_ASSIGN(
        value,
        node.add("where", {mask, node.scalar(node.dtype(value), resize.extrapolation), value}));
  }
  return value;
}

}  // namespace attune::onnx
