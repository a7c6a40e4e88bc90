// Resampling along one axis: each output element is a weighted sum of a few input elements, whose
// places and weights are tables. All interpolating modes of Resize come down to it, axis by axis.
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Index = std::vector<ir::Expr>;

// {axis}: data, places i64 [size, taps], weights [size, taps].
Result<std::vector<TensorType>> infer_resample(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  TensorType type = call.inputs[0];
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  const TensorType& places = call.inputs[1];
  if (axis >= type.shape.size() || places.rank() != 2 || places.shape[1] < 1 ||
      call.inputs[2].shape != places.shape || !type.dtype.is_float()) {
    return does_not_fit(call, fmt::format("axis {}", axis));
  }
  type.shape[axis] = places.shape[0];
  return std::vector{type};
}

ir::Expr tap(const OpCall& call, const std::vector<Read>& inputs, const Index& index,
             const ir::Expr& number) {
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  const ir::DType type = sum_type(call.inputs[0].dtype);
  Index from = index;
  from[axis] = clamped(inputs[1]({index[axis], number}), call.inputs[0].shape[axis]);
  return ir::cast(type, inputs[0](from)) * ir::cast(type, inputs[2]({index[axis], number}));
}

ir::Expr resample_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  ir::Expr sum = tap(call, inputs, index, 0);
  for (std::int64_t i = 1; i < call.inputs[1].shape[1]; ++i) {
    sum = sum + tap(call, inputs, index, i);
  }
  return ir::cast(call.inputs[0].dtype, sum);
}

Result<ir::Buffer> resample_stages(ir::Program& program, const OpCall& call,
                                   const std::vector<Read>& inputs) {
  Shape shape = call.inputs[0].shape;
  shape[static_cast<std::size_t>(call.integer("axis"))] = call.inputs[1].shape[0];
  const std::vector<ir::Axis> axes = axes_of(shape);
  Index index;
  for (const ir::Axis& axis : axes) index.push_back(ir::axis_var(axis));
  return ir::add_reduce(program, free_stage_name(program, "anchor"), axes,
                        {{"tap", call.inputs[1].shape[1]}}, ir::Reduction::Sum,
                        tap(call, inputs, index, ir::var("tap")));
}

}  // namespace

std::vector<OpDef> resample_operators() {
  return {
      // For a handful of taps, written out.
      by_element("resample", OpKind::Injective, infer_resample, resample_element,
                 {.keeps_channels = true, .enlarges = true}),
      // For any number of them.
      by_stages("resample_wide", OpKind::Reduction, infer_resample, resample_stages),
  };
}

}  // namespace attune::ops
