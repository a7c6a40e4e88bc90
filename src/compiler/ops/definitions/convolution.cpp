// Convolutions of graphs, in any number of spatial dimensions: data [n, c, spatial…], weight
// [oc, ic / group, kernel…] (transposed: [ic, oc / group, kernel…]), optional bias [oc]. Sums of
// f16 and bf16 are kept in f32, sums of small integers in i32, which is also their result.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/definitions/spatial.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

ir::DType result_type(const OpCall& call) {
  const ir::DType type = call.inputs[0].dtype;
  return type.is_float() ? type : sum_type(type);
}

Status check_weight(const OpCall& call, std::size_t in_dimension) {
  const Shape& data = call.inputs[0].shape;
  const Shape& weight = call.inputs[1].shape;
  const std::int64_t group = call.integer("group");
  if (weight.size() != data.size() || data.size() < 3 || group < 1 ||
      group > std::max<std::int64_t>(1, data[1]) ||
      call.integers("kernel_shape").size() + 2 != data.size()) {
    return does_not_fit(call, fmt::format("{} groups", group));
  }
  const std::int64_t per_group = in_dimension == 1 ? weight[1] : weight[0] / group;
  if (data[1] % group != 0 || per_group != data[1] / group || weight[0] % group != 0 ||
      !std::equal(weight.begin() + 2, weight.end(), call.integers("kernel_shape").begin())) {
    return does_not_fit(
        call, fmt::format("the weight does not fit {} channels in {} groups", data[1], group));
  }
  const std::int64_t out = in_dimension == 1 ? weight[0] : weight[1] * group;
  if (call.has(2) && call.inputs[2].shape != Shape{out}) {
    return does_not_fit(call, fmt::format("the bias is not [{}]", out));
  }
  return {};
}

Status check_positive(const OpCall& call, const Shape& shape) {
  for (std::size_t i = 2; i < shape.size(); ++i) {
    if (shape[i] < 0 || (shape[i] == 0 && call.inputs[0].shape[i] > 0)) {
      return does_not_fit(call, fmt::format("the kernel is larger than dimension {}", i));
    }
  }
  return {};
}

Types infer_conv(const OpCall& call) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  ATTUNE_RETURN_IF_ERROR(check_weight(call, 1));
  const Shape shape = window_positions(call.inputs[0].shape[0], call.inputs[1].shape[0], windows);
  ATTUNE_RETURN_IF_ERROR(check_positive(call, shape));
  return std::vector<TensorType>{{result_type(call), shape, {}}};
}

// anchor + bias as a stage, or the anchor itself without one.
ir::Buffer add_bias(ir::Program& program, const OpCall& call, const std::vector<Read>& inputs,
                    const ir::Buffer& anchor, const std::vector<ir::Axis>& axes) {
  if (!call.has(2)) return anchor;
  const Index index = variables_of(axes);
  const ir::Expr sum = ir::load(anchor, index) + ir::cast(anchor->type, inputs[2]({index[1]}));
  return ir::add_compute(program, free_stage_name(program, "bias"), axes, sum);
}

// sum over in-channels and taps of data[n, ic, place + tap] * weight.
struct Filter {
  std::int64_t in_per_group, out_per_group;
  bool transposed;  // weight [ic, oc / group, …], taps counted from the end
};

ir::Buffer add_anchor(ir::Program& program, const std::vector<Window>& windows,
                      const std::vector<ir::Axis>& axes, const Filter& filter, const Read& data,
                      const Read& weight) {
  std::vector<ir::Axis> reduce{{"ic", filter.in_per_group}};
  for (const ir::Axis& axis : tap_axes(windows)) reduce.push_back(axis);
  const Index index = variables_of(axes);
  const bool grouped = axes[1].extent != filter.out_per_group;
  const ir::Expr group = index[1] / ir::Expr(filter.out_per_group);
  ir::Expr channel = ir::var("ic");
  if (grouped) channel = group * ir::Expr(filter.in_per_group) + channel;
  Index from{index[0], channel};
  for (const ir::Expr& place : tap_places(windows, index)) from.push_back(place);
  Index at{index[1], ir::var("ic")};
  if (filter.transposed) {
    at = {channel, grouped ? index[1] % ir::Expr(filter.out_per_group) : index[1]};
  }
  for (std::size_t i = 1; i < reduce.size(); ++i) {
    const ir::Expr tap = ir::axis_var(reduce[i]);
    at.push_back(filter.transposed ? ir::Expr(reduce[i].extent - 1) - tap : tap);
  }
  const ir::Expr value = data(from);
  const ir::DType type = sum_type(value.type());
  return ir::add_reduce(program, free_stage_name(program, "anchor"), axes, reduce,
                        ir::Reduction::Sum, ir::cast(type, value) * ir::cast(type, weight(at)));
}

Result<ir::Buffer> conv_stages(ir::Program& program, const OpCall& call,
                               const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  const TensorType& data = call.inputs[0];
  const Shape& weight = call.inputs[1].shape;
  const std::vector<ir::Axis> axes = axes_of(window_positions(data.shape[0], weight[0], windows));
  const Read input = padded_data(program, data, inputs[0], windows, ir::zero_of(data.dtype));
  const Filter filter{weight[1], weight[0] / call.integer("group"), false};
  const ir::Buffer anchor = add_anchor(program, windows, axes, filter, input, inputs[1]);
  return add_bias(program, call, inputs, anchor, axes);
}

// A transposed convolution is a plain one over the data with stride - 1 zeros between elements:
// the windows of that one.
struct Spread {
  std::vector<Window> windows;
  Shape shape;    // of the output
  Shape strides;  // distance of the data's elements
  Shape before;   // zeros in front
};

Result<Spread> spread_of(const OpCall& call) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  const Shape& padding = call.integers("output_padding");
  if (padding.size() != windows.size()) {
    return does_not_fit(call, "output_padding needs a number for each spatial dimension");
  }
  Spread spread{
      {}, {call.inputs[0].shape[0], call.inputs[1].shape[1] * call.integer("group")}, {}, {}};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const std::int64_t extent = (window.size - 1) * window.stride + window.span() + padding[i] -
                                window.pad_before - window.pad_after;
    spread.shape.push_back(extent);
    spread.strides.push_back(window.stride);
    spread.before.push_back(window.span() - 1 - window.pad_before);
    spread.windows.push_back({extent + window.span() - 1, window.kernel, 1, 0, 0, window.dilation});
  }
  return spread;
}

Types infer_conv_transpose(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_weight(call, 0));
  ATTUNE_ASSIGN(const Spread spread, spread_of(call));
  ATTUNE_RETURN_IF_ERROR(check_positive(call, spread.shape));
  return std::vector<TensorType>{{result_type(call), spread.shape, {}}};
}

Result<ir::Buffer> conv_transpose_stages(ir::Program& program, const OpCall& call,
                                         const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const Spread spread, spread_of(call));
  const TensorType& data = call.inputs[0];
  Shape shape{data.shape[0], data.shape[1]};
  for (const Window& window : spread.windows) shape.push_back(window.size);
  const std::vector<ir::Axis> spread_axes = axes_of(shape);
  Index from = variables_of(spread_axes);
  ir::Expr inside;
  for (std::size_t i = 0; i < spread.windows.size(); ++i) {
    const ir::Expr place = from[i + 2] - ir::Expr(spread.before[i]);
    const ir::Expr stride = spread.strides[i];
    require(inside, place >= 0 && place < ir::Expr(data.shape[i + 2]) * stride);
    if (spread.strides[i] > 1) require(inside, place % stride == ir::Expr(0));
    from[i + 2] = spread.strides[i] > 1 ? place / stride : place;
  }
  const ir::Buffer spread_data =
      ir::add_compute(program, free_stage_name(program, "spread"), spread_axes,
                      ir::select(inside, inputs[0](from), ir::zero_of(data.dtype)));
  const Read read = [&](const Index& index) { return ir::load(spread_data, index); };
  const std::vector<ir::Axis> axes = axes_of(spread.shape);
  const std::int64_t group = call.integer("group");
  const Filter filter{data.shape[1] / group, call.inputs[1].shape[1], true};
  const ir::Buffer anchor = add_anchor(program, spread.windows, axes, filter, read, inputs[1]);
  return add_bias(program, call, inputs, anchor, axes);
}

}  // namespace

std::vector<OpDef> convolution_operators() {
  return {
      by_stages("conv", OpKind::Heavy, infer_conv, conv_stages, {.pads_with = PadValue::Zero}),
      by_stages("conv_transpose", OpKind::Heavy, infer_conv_transpose, conv_transpose_stages),
  };
}

}  // namespace attune::ops
