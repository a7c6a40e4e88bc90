// Pools over regions of interest.
//   roi_align {mode: avg, max; output_height, output_width, sampling_ratio, spatial_scale,
//              half_pixel}: data [n, c, h, w], regions [r, 4], image numbers [r]
//   max_roi_pool {pooled_shape, spatial_scale}: data [n, c, h, w], regions [r, 5] (image first)
#include "compiler/ops/definitions/interpolation.h"
#include "compiler/ops/definitions/spatial.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

Types infer_roi_align(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& data = call.inputs[0];
  const TensorType& regions = call.inputs[1];
  if (data.rank() != 4 || regions.rank() != 2 || regions.shape[1] != 4 ||
      call.inputs[2].shape != Shape{regions.shape[0]}) {
    return does_not_fit(call, "needs images, regions [r,4] and image numbers [r]");
  }
  return std::vector<TensorType>{{data.dtype,
                                  {regions.shape[0], data.shape[1], call.integer("output_height"),
                                   call.integer("output_width")},
                                  {}}};
}

// One dimension of a region: where its bins begin, how large they are and how many samples each
// takes.
struct Side {
  ir::Expr start, bin, samples;
  std::int64_t most;  // samples
  std::int64_t size;  // of the data
};

Side side_of(const OpCall& call, const std::vector<Read>& inputs, const ir::Expr& region,
             std::int64_t dimension, ir::DType type) {
  const bool is_width = dimension == 1;
  const auto bins = call.integer(is_width ? "output_width" : "output_height");
  const std::int64_t size = call.inputs[0].shape[static_cast<std::size_t>(2 + dimension)];
  const bool half = call.integer("half_pixel") != 0;
  const auto edge = [&](std::int64_t column) {
    return ir::cast(type, inputs[1]({region, column})) * imm(type, call.real("spatial_scale")) -
           imm(type, half ? 0.5 : 0);
  };
  const ir::Expr start = edge(is_width ? 0 : 1);
  ir::Expr length = edge(is_width ? 2 : 3) - start;
  if (!half) length = ir::max(length, imm(type, 1));
  const ir::Expr bin = length / imm(type, static_cast<double>(bins));
  const std::int64_t ratio = call.integer("sampling_ratio");
  if (ratio > 0) return {start, bin, ratio, ratio, size};
  // Regions larger than the image are sampled no finer than one that covers it.
  const std::int64_t most = (size + bins - 1) / bins + 1;
  const ir::Expr samples = ir::cast(ir::kIndex, ir::math(ir::MathFn::Ceil, {bin}));
  return {start, bin, ir::max(ir::min(samples, ir::Expr(most)), ir::Expr(0)), most, size};
}

struct Sample {
  Taps taps;
  ir::Expr valid;  // the sample is one of the bin's
  ir::Expr near;   // it lies in the image or next to it
};

Sample sample_of(const Side& side, const ir::Expr& bin, const ir::Expr& number, ir::DType type) {
  const ir::Expr samples = ir::cast(type, ir::max(side.samples, ir::Expr(1)));
  const ir::Expr place = side.start + ir::cast(type, bin) * side.bin +
                         (ir::cast(type, number) + imm(type, 0.5)) * side.bin / samples;
  const auto size = static_cast<double>(side.size);
  const ir::Expr inside = ir::max(ir::min(place, imm(type, size - 1)), imm(type, 0));
  Taps taps = linear_taps(inside);
  for (ir::Expr& tap : taps.places) tap = clamped(tap, side.size);
  return {taps, number < side.samples, place >= imm(type, -1) && place <= imm(type, size)};
}

Result<ir::Buffer> roi_align_stages(ir::Program& program, const OpCall& call,
                                    const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const std::vector<TensorType> types, infer_roi_align(call));
  const bool is_max = call.word("mode") == "max";
  const std::vector<ir::Axis> axes = axes_of(types[0].shape);
  const Index index = variables_of(axes);
  const ir::DType type = sum_type(types[0].dtype);
  const Side height = side_of(call, inputs, index[0], 0, type);
  const Side width = side_of(call, inputs, index[0], 1, type);
  const Sample y = sample_of(height, index[2], ir::var("y"), type);
  const Sample x = sample_of(width, index[3], ir::var("x"), type);
  const ir::Expr image = data_index(inputs[2]({index[0]}), call.inputs[0].shape[0]);
  const Pixel pixel = [&](const Index& places) {
    return ir::cast(type, inputs[0]({image, index[1], places[0], places[1]}));
  };
  ir::Expr value;
  if (is_max) {  // the largest of the weighted corners
    for (int corner = 0; corner < 4; ++corner) {
      const std::size_t i = corner / 2, j = corner % 2;
      const ir::Expr part =
          pixel({y.taps.places[i], x.taps.places[j]}) * y.taps.weights[i] * x.taps.weights[j];
      value = value ? ir::max(value, part) : part;
    }
  } else {
    value = interpolate({y.taps, x.taps}, pixel);
  }
  const ir::Reduction reduction = is_max ? ir::Reduction::Max : ir::Reduction::Sum;
  value = ir::select(y.near && x.near, value, imm(type, 0));
  value = ir::select(y.valid && x.valid, value, ir::identity_of(reduction, type));
  const ir::Buffer anchor =
      ir::add_reduce(program, free_stage_name(program, "anchor"), axes,
                     {{"y", height.most}, {"x", width.most}}, reduction, value);
  const ir::Expr samples = height.samples * width.samples;
  const ir::Expr found = ir::load(anchor, index);
  const ir::Expr result = is_max ? ir::select(samples > 0, found, imm(type, 0))
                                 : found / ir::cast(type, ir::max(samples, ir::Expr(1)));
  return ir::add_compute(program, free_stage_name(program, "pooled"), axes, result);
}

Types infer_max_roi_pool(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& data = call.inputs[0];
  const TensorType& regions = call.inputs[1];
  const Shape& pooled = call.integers("pooled_shape");
  if (data.rank() != 4 || regions.rank() != 2 || regions.shape[1] != 5 || pooled.size() != 2) {
    return does_not_fit(call, "needs images and regions [r,5]");
  }
  return std::vector<TensorType>{
      {data.dtype, {regions.shape[0], data.shape[1], pooled[0], pooled[1]}, {}}};
}

Result<ir::Buffer> max_roi_pool_stages(ir::Program& program, const OpCall& call,
                                       const std::vector<Read>& inputs) {
  ATTUNE_ASSIGN(const std::vector<TensorType> types, infer_max_roi_pool(call));
  const Shape& shape = call.inputs[0].shape;
  const std::vector<ir::Axis> axes = axes_of(types[0].shape);
  const Index index = variables_of(axes);
  const ir::DType type = sum_type(types[0].dtype);
  const auto column = [&](std::int64_t number) { return inputs[1]({index[0], number}); };
  const auto edge = [&](std::int64_t number) {  // rounded half away from zero
    const ir::Expr scaled = ir::cast(type, column(number)) * imm(type, call.real("spatial_scale"));
    return ir::math(ir::MathFn::Floor, {scaled + imm(type, 0.5)});
  };
  ir::Expr inside;
  const char* names[] = {"y", "x"};
  for (std::size_t d = 0; d < 2; ++d) {
    const ir::Expr start = edge(d == 0 ? 2 : 1), end = edge(d == 0 ? 4 : 3);
    const ir::Expr length = ir::max(end - start + imm(type, 1), imm(type, 1));
    const ir::Expr bin = length / imm(type, static_cast<double>(types[0].shape[d + 2]));
    const ir::Expr number = ir::cast(type, index[d + 2]);
    const ir::Expr first = ir::math(ir::MathFn::Floor, {number * bin}) + start;
    const ir::Expr last = ir::math(ir::MathFn::Ceil, {(number + imm(type, 1)) * bin}) + start;
    const ir::Expr place = ir::var(names[d]);
    require(inside, place >= ir::cast(ir::kIndex, first) && place < ir::cast(ir::kIndex, last));
  }
  const ir::DType own = types[0].dtype;
  const ir::Expr least = ir::identity_of(ir::Reduction::Max, own);
  const ir::Expr value =
      inputs[0]({data_index(column(0), shape[0]), index[1], ir::var("y"), ir::var("x")});
  const ir::Buffer anchor = ir::add_reduce(program, free_stage_name(program, "anchor"), axes,
                                           {{"y", shape[2]}, {"x", shape[3]}}, ir::Reduction::Max,
                                           ir::select(inside, value, least));
  const ir::Expr found = ir::load(anchor, index);  // an empty bin gives 0
  return ir::add_compute(program, free_stage_name(program, "pooled"), axes,
                         ir::select(found == least, ir::zero_of(own), found));
}

}  // namespace

std::vector<OpDef> region_operators() {
  return {
      by_stages("roi_align", OpKind::Opaque, infer_roi_align, roi_align_stages),
      by_stages("max_roi_pool", OpKind::Opaque, infer_max_roi_pool, max_roi_pool_stages,
                {.zeros = Zeros::First}),
  };
}

}  // namespace attune::ops
