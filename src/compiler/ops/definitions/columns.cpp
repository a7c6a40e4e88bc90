// Operators between images and the columns that windows make of them.
//   col2im {image_shape, block_shape, strides, pads, dilations}: columns [n, c * block, windows]
//     added up at their places in images [n, c, spatial…]
//   deform_conv {kernel_shape, strides, pads, dilations, group, offset_group}: data, weight,
//     offsets, optional bias, optional mask: a convolution whose taps are moved by the offsets
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/definitions/interpolation.h"
#include "compiler/ops/definitions/spatial.h"
#include "compiler/ops/limits.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

Result<std::vector<Window>> image_windows(const OpCall& call) {
  OpCall image = call;
  image.inputs.resize(1);
  image.inputs[0].shape = {1, 1};
  const Shape& extents = call.integers("image_shape");
  image.inputs[0].shape.insert(image.inputs[0].shape.end(), extents.begin(), extents.end());
  image.attributes["kernel_shape"] = call.integers("block_shape");
  return spatial_windows(image);
}

Types infer_col2im(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  ATTUNE_ASSIGN(const std::vector<Window> windows, image_windows(call));
  const TensorType& columns = call.inputs[0];
  std::int64_t block = 1, positions = 1;
  for (const Window& window : windows) {
    ATTUNE_RETURN_IF_ERROR(check_size("the block", window.kernel));
    ATTUNE_RETURN_IF_ERROR(check_size("the number of places", window.positions()));
    block = std::min(block * window.kernel, kLargestSize);
    positions = std::min(positions * window.positions(), kLargestSize);
  }
  if (columns.rank() != 3 || columns.shape[1] % block != 0 || columns.shape[2] != positions) {
    return does_not_fit(call, fmt::format("blocks of {} elements at {} places", block, positions));
  }
  TensorType type{columns.dtype, {columns.shape[0], columns.shape[1] / block}, {}};
  for (const Window& window : windows) type.shape.push_back(window.size);
  return std::vector{type};
}

Result<ir::Buffer> col2im_stages(ir::Program& program, const OpCall& call,
                                 const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const std::vector<TensorType> types, infer_col2im(call));
  ATTUNE_ASSIGN(const std::vector<Window> windows, image_windows(call));
  const std::vector<ir::Axis> axes = axes_of(types[0].shape);
  const std::vector<ir::Axis> reduce = tap_axes(windows);
  const Index index = variables_of(axes), taps = variables_of(reduce);
  ir::Expr inside, window_number = 0, channel = index[1];
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const ir::Expr place =
        index[i + 2] + ir::Expr(window.pad_before) - scaled(taps[i], window.dilation);
    const ir::Expr stride = window.stride;
    require(inside, place >= 0 && place < ir::Expr(window.positions() * window.stride) &&
                        place % stride == ir::Expr(0));
    window_number = window_number * ir::Expr(window.positions()) + place / stride;
    channel = channel * ir::Expr(window.kernel) + taps[i];
  }
  const ir::DType type = sum_type(types[0].dtype);
  const ir::Expr value = ir::cast(type, inputs[0]({index[0], channel, window_number}));
  return ir::add_reduce(program, free_stage_name(program, "anchor"), axes, reduce,
                        ir::Reduction::Sum, ir::select(inside, value, imm(type, 0)));
}

Types infer_deform_conv(const OpCall& call) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  const TensorType& data = call.inputs[0];
  const Shape& weight = call.inputs[1].shape;
  const std::int64_t group = call.integer("group"), moved = call.integer("offset_group");
  const std::int64_t most = std::max<std::int64_t>(1, data.shape[1]);
  if (weight.size() != data.shape.size() || group < 1 || group > most || moved < 1 ||
      moved > most || data.shape[1] % group != 0 || weight[1] != data.shape[1] / group ||
      data.shape[1] % moved != 0) {
    return does_not_fit(call, "the weight does not fit the channels");
  }
  const Shape shape = window_positions(data.shape[0], weight[0], windows);
  const auto dimensions = static_cast<std::int64_t>(windows.size());
  Shape offsets = shape;
  offsets[1] = moved * product_of(weight, 2, weight.size()) * dimensions;
  Shape mask = shape;
  mask[1] = offsets[1] / dimensions;
  if (call.inputs[2].shape != offsets || (call.has(4) && call.inputs[4].shape != mask) ||
      (call.has(3) && call.inputs[3].shape != Shape{weight[0]})) {
    return does_not_fit(call, "offsets, bias or mask do not fit the windows");
  }
  return std::vector<TensorType>{{data.dtype, shape, {}}};
}

// sampled[n, c, tap, positions…]: the data under each moved tap.
ir::Buffer add_sampled(ir::Program& program, const OpCall& call, const std::vector<Read>& inputs,
                       const std::vector<Window>& windows) {
  const TensorType& data = call.inputs[0];
  const Shape& kernel = call.integers("kernel_shape");
  const std::int64_t taps = product_of(kernel, 0, kernel.size());
  Shape shape{data.shape[0], data.shape[1], taps};
  for (const Window& window : windows) shape.push_back(window.positions());
  const std::vector<ir::Axis> axes = axes_of(shape);
  const Index index = variables_of(axes);
  const Index positions(index.begin() + 3, index.end());
  const ir::DType type = sum_type(data.dtype);
  const std::int64_t per_group = data.shape[1] / call.integer("offset_group");
  const ir::Expr moved_tap = index[1] / ir::Expr(per_group) * ir::Expr(taps) + index[2];
  const auto at = [&](std::size_t input, const ir::Expr& channel) {
    Index place{index[0], channel};
    place.insert(place.end(), positions.begin(), positions.end());
    return ir::cast(type, inputs[input](place));
  };
  std::vector<Taps> places;
  ir::Expr rest = index[2];
  std::int64_t behind = taps;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    behind /= kernel[i];
    const ir::Expr tap = rest / ir::Expr(behind);
    rest = rest % ir::Expr(behind);
    const ir::Expr regular = scaled(positions[i], windows[i].stride) -
                             ir::Expr(windows[i].pad_before) + scaled(tap, windows[i].dilation);
    const ir::Expr offset =
        at(2, moved_tap * ir::Expr(std::int64_t(windows.size())) + ir::Expr(std::int64_t(i)));
    places.push_back(linear_taps(ir::cast(type, regular) + offset));
  }
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  ir::Expr value =
      interpolate(places, pixels_or_zero(inputs[0], spatial, {index[0], index[1]}, type));
  if (call.has(4)) value = value * at(4, moved_tap);
  return ir::add_compute(program, free_stage_name(program, "sampled"), axes, value);
}

Result<ir::Buffer> deform_conv_stages(ir::Program& program, const OpCall& call,
                                      const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const std::vector<Window> windows, spatial_windows(call));
  const ir::Buffer sampled = add_sampled(program, call, inputs, windows);
  const Shape& weight = call.inputs[1].shape;
  const std::vector<ir::Axis> axes =
      axes_of(window_positions(call.inputs[0].shape[0], weight[0], windows));
  const Index index = variables_of(axes);
  std::vector<ir::Axis> reduce{{"ic", weight[1]}};
  for (const ir::Axis& axis : tap_axes(windows)) reduce.push_back(axis);
  const ir::Expr group = index[1] / ir::Expr(weight[0] / call.integer("group"));
  ir::Expr tap = 0;
  Index filter{index[1], ir::var("ic")};
  for (std::size_t i = 1; i < reduce.size(); ++i) {
    tap = tap * ir::Expr(reduce[i].extent) + ir::axis_var(reduce[i]);
    filter.push_back(ir::axis_var(reduce[i]));
  }
  Index from{index[0], group * ir::Expr(weight[1]) + ir::var("ic"), tap};
  from.insert(from.end(), index.begin() + 2, index.end());
  const ir::Buffer anchor =
      ir::add_reduce(program, free_stage_name(program, "anchor"), axes, reduce, ir::Reduction::Sum,
                     ir::load(sampled, from) * ir::cast(sampled->type, inputs[1](filter)));
  if (!call.has(3)) return anchor;
  return ir::add_compute(program, free_stage_name(program, "bias"), axes,
                         ir::load(anchor, index) + ir::cast(anchor->type, inputs[3]({index[1]})));
}

}  // namespace

std::vector<OpDef> column_operators() {
  return {
      by_stages("col2im", OpKind::Reduction, infer_col2im, col2im_stages),
      by_stages("deform_conv", OpKind::Opaque, infer_deform_conv, deform_conv_stages),
  };
}

}  // namespace attune::ops
