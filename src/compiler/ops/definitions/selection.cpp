// Operators that choose each element by its place: triangles, bands, one-hot vectors, reversed
// sequences, updated caches, grids of affine maps.
#include <fmt/format.h>

#include <limits>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

// {upper}: data, optional number of the diagonal.
Types infer_trilu(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  if (call.inputs[0].rank() < 2) return does_not_fit(call, "needs two dimensions at least");
  if (call.has(1) && call.inputs[1].elements() != 1) {
    return does_not_fit(call, "the diagonal is one number");
  }
  return std::vector{call.inputs[0]};
}

ir::Expr trilu_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const ir::Expr offset = index[index.size() - 1] - index[index.size() - 2];
  ir::Expr diagonal = 0;
  if (call.has(1)) {
    diagonal = ir::cast(ir::kIndex, inputs[1](Index(call.inputs[1].shape.size(), ir::Expr(0))));
  }
  const ir::Expr kept = call.integer("upper") != 0 ? offset >= diagonal : offset <= diagonal;
  return ir::select(kept, inputs[0](index), ir::zero_of(call.inputs[0].dtype));
}

// {low, high}: data, which stays where column less row lies within both, and is minus infinity
// elsewhere: scores of the keys that a query must not see.
Types infer_band_mask(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, TypeSet::Floats));
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  if (call.inputs[0].rank() < 2) return does_not_fit(call, "needs two dimensions at least");
  return std::vector{call.inputs[0]};
}

ir::Expr band_mask_element(const OpCall& call, const std::vector<Read>& inputs,
                           const Index& index) {
  const ir::DType type = call.inputs[0].dtype;
  const std::int64_t rows = call.inputs[0].shape[index.size() - 2];
  const std::int64_t columns = call.inputs[0].shape.back();
  const std::int64_t low = call.integer("low"), high = call.integer("high");
  const ir::Expr& row = index[index.size() - 2];
  const ir::Expr& column = index.back();
  ir::Expr seen;
  if (high < columns - 1) seen = column <= row + ir::Expr(high);
  if (low > -(rows - 1)) {
    const ir::Expr begun = row + ir::Expr(low) <= column;
    seen = seen ? seen && begun : begun;
  }
  const ir::Expr element = inputs[0](index);
  if (!seen) return element;
  return ir::select(seen, element, imm(type, -std::numeric_limits<double>::infinity()));
}

// {axis, depth}: indices, [off, on].
Types infer_one_hot(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const std::int64_t axis = call.integer("axis");
  const std::int64_t depth = call.integer("depth");
  TensorType type = call.inputs[0];
  type.dtype = call.inputs[1].dtype;
  if (axis < 0 || axis > type.rank() || depth < 0 || call.inputs[1].shape != Shape{2}) {
    return does_not_fit(call, fmt::format("axis {}, depth {}", axis, depth));
  }
  type.shape.insert(type.shape.begin() + axis, depth);
  return std::vector{type};
}

ir::Expr one_hot_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const std::int64_t axis = call.integer("axis");
  Index place = index;
  place.erase(place.begin() + axis);
  const ir::Expr value = ir::cast(ir::kIndex, inputs[0](place));
  const ir::Expr hot = ir::select(value < 0, value + ir::Expr(call.integer("depth")), value);
  return ir::select(hot == index[static_cast<std::size_t>(axis)], inputs[1]({1}), inputs[1]({0}));
}

// {batch_axis, time_axis}: data, lengths.
Types infer_reverse_sequence(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& type = call.inputs[0];
  const auto batch = static_cast<std::size_t>(call.integer("batch_axis"));
  const auto time = static_cast<std::size_t>(call.integer("time_axis"));
  if (batch >= type.shape.size() || time >= type.shape.size() || batch == time ||
      call.inputs[1].shape != Shape{type.shape[batch]}) {
    return does_not_fit(call, fmt::format("batch axis {}, time axis {}", batch, time));
  }
  return std::vector{type};
}

ir::Expr reverse_sequence_element(const OpCall& call, const std::vector<Read>& inputs,
                                  const Index& index) {
  const auto batch = static_cast<std::size_t>(call.integer("batch_axis"));
  const auto time = static_cast<std::size_t>(call.integer("time_axis"));
  const ir::Expr length = ir::min(ir::cast(ir::kIndex, inputs[1]({index[batch]})),
                                  ir::Expr(call.inputs[0].shape[time]));
  Index from = index;
  from[time] = ir::select(index[time] < length, length - 1 - index[time], index[time]);
  return inputs[0](from);
}

// {axis, mode}: cache, update, optional first places of the update.
Types infer_tensor_scatter(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& cache = call.inputs[0];
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  Shape expected = call.inputs[1].shape;
  const bool fits = axis > 0 && axis < cache.shape.size() && expected.size() == cache.shape.size();
  if (fits) expected[axis] = cache.shape[axis];
  if (!fits || expected != cache.shape || call.inputs[1].shape[axis] > cache.shape[axis] ||
      (call.has(2) && call.inputs[2].shape != Shape{cache.shape[0]})) {
    return does_not_fit(call, fmt::format("the update does not fit into dimension {}", axis));
  }
  return std::vector{cache};
}

ir::Expr tensor_scatter_element(const OpCall& call, const std::vector<Read>& inputs,
                                const Index& index) {
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  ir::Expr place = index[axis];
  if (call.has(2)) place = place - ir::cast(ir::kIndex, inputs[2]({index[0]}));
  if (call.word("mode") == "circular") place = place % ir::Expr(call.inputs[0].shape[axis]);
  Index from = index;
  from[axis] = place;
  return ir::select(place >= 0 && place < ir::Expr(call.inputs[1].shape[axis]), inputs[1](from),
                    inputs[0](index));
}

// {size, align_corners}: theta [n, d, d + 1] gives the grid [n, spatial…, d].
Types infer_affine_grid(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& theta = call.inputs[0];
  const Shape& size = call.integers("size");
  const auto spatial = static_cast<std::int64_t>(size.size()) - 2;
  if (spatial < 1 || theta.shape != Shape{size[0], spatial, spatial + 1}) {
    return does_not_fit(call, fmt::format("no map of {} dimensions", spatial));
  }
  TensorType type{theta.dtype, {size[0]}, {}};
  type.shape.insert(type.shape.end(), size.begin() + 2, size.end());
  type.shape.push_back(spatial);
  return std::vector{type};
}

ir::Expr affine_grid_element(const OpCall& call, const std::vector<Read>& inputs,
                             const Index& index) {
  const Shape& size = call.integers("size");
  const std::size_t spatial = size.size() - 2;
  const ir::DType type = sum_type(call.inputs[0].dtype);
  const auto theta = [&](std::size_t column) {
    return ir::cast(type, inputs[0]({index[0], index.back(), ir::Expr(std::int64_t(column))}));
  };
  ir::Expr sum = theta(spatial);
  for (std::size_t d = 0; d < spatial; ++d) {  // x is the last spatial dimension
    const std::size_t axis = spatial - 1 - d;
    const auto extent = static_cast<double>(size[axis + 2]);
    const ir::Expr place = ir::cast(type, index[axis + 1]);
    const ir::Expr coordinate =
        call.integer("align_corners") != 0
            ? place * imm(type, extent > 1 ? 2 / (extent - 1) : 0) - imm(type, extent > 1 ? 1 : 0)
            : (place * imm(type, 2) + imm(type, 1)) / imm(type, extent) - imm(type, 1);
    sum = sum + theta(d) * coordinate;
  }
  return ir::cast(call.inputs[0].dtype, sum);
}

}  // namespace

std::vector<OpDef> selection_operators() {
  return {
      by_element("trilu", OpKind::Injective, infer_trilu, trilu_element),
      by_element("band_mask", OpKind::Injective, infer_band_mask, band_mask_element,
                 {.stays_in_place = true}),
      by_element("one_hot", OpKind::Injective, infer_one_hot, one_hot_element),
      by_element("reverse_sequence", OpKind::Injective, infer_reverse_sequence,
                 reverse_sequence_element),
      by_element("tensor_scatter", OpKind::Injective, infer_tensor_scatter, tensor_scatter_element),
      by_element("affine_grid", OpKind::Injective, infer_affine_grid, affine_grid_element),
  };
}

}  // namespace attune::ops
