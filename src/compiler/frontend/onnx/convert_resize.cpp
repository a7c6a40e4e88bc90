// Resize and Upsample: axis by axis, by tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/onnx/open_resize.h"
#include "compiler/frontend/onnx/resize_tables.h"
#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// Weighted sums of so few elements are written out.
constexpr std::int64_t kFewTaps = 4;

struct Plan {
  ResizeRules rules;
  std::vector<ResizeAxis> axes;  // of all dimensions
  double extrapolation = 0;
  // Values that are known at run time only, and the dimensions that they are about.
  ValueId open_scales = kNoValue, open_roi = kNoValue;
  Extents open_axes = {};
};

// Takes the sizes from what the model states of its result; false if it does not.
bool take_declared_sizes(NodeContext& node, Plan& plan) {
  const auto shape = node.declared_shape(0);
  if (!shape || shape->size() != plan.axes.size()) return false;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    plan.axes[i].result = (*shape)[i];
    if (plan.axes[i].size < 1 || plan.axes[i].result < 1) return false;
  }
  return true;
}

Result<std::vector<double>> reals_input(NodeContext& node, std::size_t input,
                                        std::string_view role) {
  ATTUNE_ASSIGN(const ConstantPtr constant, node.constant_input(input, role));
  std::vector<double> values;
  for (std::int64_t i = 0; i < constant->type.elements(); ++i) values.push_back(constant->real(i));
  return values;
}

bool is_given(NodeContext& node, std::size_t input) {
  return node.has(input) && node.type(node.input(input)).elements() > 0;
}

Status set_scales(Plan& plan, const std::vector<double>& scales, const Extents& axes) {
  if (scales.size() != axes.size()) {
    return invalid(fmt::format("{} scales for {} dimensions", scales.size(), axes.size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan.axes[static_cast<std::size_t>(axes[i])];
    axis.scale = scales[i];
    // In single precision, as scales are: 0.3 * 10 is 3.
    const float result = static_cast<float>(scales[i]) * static_cast<float>(axis.size);
    if (!(scales[i] > 0) || !(result < 2e9F)) {
      return invalid(fmt::format("dimension {} is scaled by {}", axes[i], scales[i]));
    }
    axis.result = static_cast<std::int64_t>(std::floor(result));
  }
  return {};
}

Status set_sizes(NodeContext& node, Plan& plan, const Extents& sizes, const Extents& axes) {
  if (sizes.size() != axes.size()) {
    return invalid(fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  }
  const std::string policy = node.word("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan.axes[static_cast<std::size_t>(axes[i])];
    if (sizes[i] < 0 || sizes[i] > 2'000'000'000 || (axis.size == 0 && sizes[i] > 0)) {
      return invalid(fmt::format("dimension {} gets size {}", axes[i], sizes[i]));
    }
    axis.result = sizes[i];
    axis.scale =
        axis.size == 0 ? 1 : static_cast<double>(sizes[i]) / static_cast<double>(axis.size);
    if (i == 0) common = axis.scale;
    common = policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (policy == "stretch") return {};
  for (const std::int64_t dimension : axes) {
    ResizeAxis& axis = plan.axes[static_cast<std::size_t>(dimension)];
    axis.scale = common;
    axis.result =
        static_cast<std::int64_t>(std::floor(common * static_cast<double>(axis.size) + 0.5));
  }
  return {};
}

Result<ValueId> resize_one(NodeContext& node, ValueId value, std::int64_t dimension,
                           const ResizeRules& rules, const ResizeAxis& axis) {
  // About as many taps as an axis has elements, but four for each.
  ATTUNE_RETURN_IF_ERROR(node.count_made(ir::kI64, {axis.result, 8}));
  ATTUNE_RETURN_IF_ERROR(node.count_made(ir::kI64, {axis.size, 8}));
  const ResizeTable table = resize_table(rules, axis);
  if (rules.mode == "nearest") {
    const std::int64_t times = axis.size == 0 ? 1 : axis.result / axis.size;
    bool is_repeat = times * axis.size == axis.result;
    for (std::int64_t i = 0; is_repeat && i < axis.result; ++i) {
      is_repeat = table.places[static_cast<std::size_t>(i)] == i / times;
    }
    if (is_repeat && times == 1) return value;
    if (is_repeat) {
      Extents repeats(node.shape(value).size(), 1);
      repeats[static_cast<std::size_t>(dimension)] = times;
      return node.add("repeat", {value}, {{"repeats", repeats}});
    }
    return node.add("gather", {value, node.integers_constant(table.places)}, {{"axis", dimension}});
  }
  const ir::DType type = node.dtype(value) == ir::kF64 ? ir::kF64 : ir::kF32;
  ir::Array places(ir::kI64, {axis.result, table.taps}), weights(type, places.shape);
  for (std::size_t i = 0; i < table.places.size(); ++i) {
    places.set_int(static_cast<std::int64_t>(i), table.places[i]);
    weights.set_real(static_cast<std::int64_t>(i), table.weights[i]);
  }
  return node.add(table.taps <= kFewTaps ? "resample" : "resample_wide",
                  {value, node.constant(ops::make_constant(std::move(places))),
                   node.constant(ops::make_constant(std::move(weights)))},
                  {{"axis", dimension}});
}

// The extrapolation value where a dimension was cropped beyond the tensor.
Result<ValueId> extrapolate(NodeContext& node, ValueId value, const Plan& plan) {
  const std::size_t rank = plan.axes.size();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::vector<bool> outside = resize_table(plan.rules, plan.axes[d]).outside;
    if (std::find(outside.begin(), outside.end(), true) == outside.end()) continue;
    Extents shape(rank, 1);
    shape[d] = plan.axes[d].result;
    ir::Array mask(ir::kBool, shape);
    for (std::size_t i = 0; i < outside.size(); ++i) {
      mask.set_int(static_cast<std::int64_t>(i), outside[i] ? 1 : 0);
    }
    ATTUNE_ASSIGN(value,
                  node.add("where", {node.constant(ops::make_constant(std::move(mask))),
                                     node.scalar(node.dtype(value), plan.extrapolation), value}));
  }
  return value;
}

Converted resize(NodeContext& node, const Plan& plan) {
  ValueId value = node.input(0);
  const ir::DType type = node.dtype(value);
  const bool interpolates = plan.rules.mode != "nearest";
  if (interpolates && !type.is_float()) {
    ATTUNE_ASSIGN(value, node.cast(value, ir::kF32));
  }
  if (!plan.open_axes.empty()) {
    ATTUNE_ASSIGN(value, resize_at_run_time(node, value,
                                            {plan.rules, plan.axes, plan.open_axes,
                                             plan.open_scales, plan.open_roi, plan.extrapolation}));
    return one(node.cast(value, type));
  }
  for (std::size_t d = 0; d < plan.axes.size(); ++d) {
    const ResizeAxis& axis = plan.axes[d];
    const bool crops = plan.rules.coordinates == "tf_crop_and_resize" &&
                       (axis.roi_start != 0 || axis.roi_end != 1);
    if (axis.size == axis.result && axis.scale == 1 && !crops) continue;
    ATTUNE_ASSIGN(value, resize_one(node, value, static_cast<std::int64_t>(d), plan.rules, axis));
  }
  if (plan.rules.coordinates == "tf_crop_and_resize") {
    ATTUNE_ASSIGN(value, extrapolate(node, value, plan));
  }
  return one(node.cast(value, type));
}

Converted resize_by_bounds(NodeContext& node, const Plan& plan, const Extents& axes) {
  ATTUNE_ASSIGN(const Bounds bounds, node.bounds_input(3, "sizes"));
  ValueId value = node.input(0);
  const ir::DType type = node.dtype(value);
  if (plan.rules.mode != "nearest" && !type.is_float()) {
    ATTUNE_ASSIGN(value, node.cast(value, ir::kF32));
  }
  ATTUNE_ASSIGN(value, resize_to_bounded(node, value, plan.rules, axes, node.input(3), bounds));
  return one(node.cast(value, type));
}

Plan plan_of(NodeContext& node) {
  Plan plan;
  for (const std::int64_t extent : node.shape(node.input(0))) {
    plan.axes.push_back({extent, extent, 1, 0, 1});
  }
  return plan;
}

Extents all_axes(const Plan& plan) {
  Extents axes;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) axes.push_back(static_cast<int>(i));
  return axes;
}

Status check_words(const ResizeRules& rules) {
  const auto known = [](const std::string& word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!known(rules.mode, {"nearest", "linear", "cubic"})) {
    return unsupported(fmt::format("mode '{}' is not known", rules.mode));
  }
  if (!known(rules.nearest,
             {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"})) {
    return unsupported(fmt::format("nearest_mode '{}' is not known", rules.nearest));
  }
  if (!known(rules.coordinates,
             {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
              "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"})) {
    return unsupported(
        fmt::format("coordinate_transformation_mode '{}' is not known", rules.coordinates));
  }
  return {};
}

// Versions before 11 know scales only; places are i / scale.
Converted resize_by_scales(NodeContext& node) {
  Plan plan = plan_of(node);
  plan.rules.mode = node.word("mode", "nearest");
  if (plan.rules.mode == "bilinear") plan.rules.mode = "linear";
  plan.rules.coordinates = "asymmetric";
  plan.rules.nearest = "simple";
  ATTUNE_RETURN_IF_ERROR(check_words(plan.rules));
  std::vector<double> scales;
  if (auto given = node.reals("scales")) {
    scales = *given;
  } else if (node.is_open(1) && take_declared_sizes(node, plan)) {
    plan.open_scales = node.input(1);
    plan.open_axes = all_axes(plan);
    return resize(node, plan);
  } else {
    ATTUNE_ASSIGN(scales, reals_input(node, 1, "scales"));
  }
  ATTUNE_RETURN_IF_ERROR(set_scales(plan, scales, all_axes(plan)));
  return resize(node, plan);
}

}  // namespace

Converted convert_upsample(NodeContext& node) { return resize_by_scales(node); }

Converted convert_resize(NodeContext& node) {
  if (node.opset() < 11) return resize_by_scales(node);
  Plan plan = plan_of(node);
  plan.rules = {.mode = node.word("mode", "nearest"),
                .coordinates = node.word("coordinate_transformation_mode", "half_pixel"),
                .nearest = node.word("nearest_mode", "round_prefer_floor"),
                .cubic_a = node.real("cubic_coeff_a", -0.75),
                .exclude_outside = node.flag("exclude_outside"),
                .antialias = node.flag("antialias")};
  plan.extrapolation = node.real("extrapolation_value", 0);
  ATTUNE_RETURN_IF_ERROR(check_words(plan.rules));
  Extents axes = all_axes(plan);
  if (auto given = node.integers("axes")) {
    ATTUNE_ASSIGN(axes, node.axes(*given, node.rank(node.input(0))));
  }
  const bool crops = plan.rules.coordinates == "tf_crop_and_resize";
  const bool opens = is_given(node, 3) ? crops && node.is_open(1) : node.is_open(2);
  if (opens && take_declared_sizes(node, plan)) {
    plan.open_axes = axes;
    if (crops) plan.open_roi = node.input(1);
    if (is_given(node, 3)) {
      ATTUNE_ASSIGN(const Extents sizes, node.integers_input(3, "sizes"));
      ATTUNE_RETURN_IF_ERROR(set_sizes(node, plan, sizes, axes));
    } else {
      plan.open_scales = node.input(2);
    }
    return resize(node, plan);
  }
  if (crops) {
    ATTUNE_ASSIGN(const std::vector<double> roi, reals_input(node, 1, "roi"));
    if (roi.size() != 2 * axes.size()) {
      return invalid(fmt::format("{} numbers of roi for {} dimensions", roi.size(), axes.size()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      ResizeAxis& axis = plan.axes[static_cast<std::size_t>(axes[i])];
      axis.roi_start = roi[i];
      axis.roi_end = roi[i + axes.size()];
    }
  }
  if (is_given(node, 3)) {
    if (node.is_open(3) && can_be_bounded(plan.rules) &&
        node.word("keep_aspect_ratio_policy", "stretch") == "stretch") {
      return resize_by_bounds(node, plan, axes);
    }
    ATTUNE_ASSIGN(const Extents sizes, node.integers_input(3, "sizes"));
    ATTUNE_RETURN_IF_ERROR(set_sizes(node, plan, sizes, axes));
  } else if (is_given(node, 2)) {
    ATTUNE_ASSIGN(const std::vector<double> scales, reals_input(node, 2, "scales"));
    ATTUNE_RETURN_IF_ERROR(set_scales(plan, scales, axes));
  } else {
    return invalid("neither scales nor sizes are given");
  }
  return resize(node, plan);
}

}  // namespace attune::onnx
