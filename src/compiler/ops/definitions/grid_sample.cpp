// grid_sample {mode: nearest, linear, cubic; padding_mode: zeros, border, reflection;
// align_corners}: data [n, c, spatial…], grid [n, out…, d] with places in -1 … 1, x first.
#include <fmt/format.h>

#include "compiler/ops/definitions/interpolation.h"
#include "compiler/ops/definitions/spatial.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Index = std::vector<ir::Expr>;

Result<std::vector<TensorType>> infer_grid_sample(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& data = call.inputs[0];
  const TensorType& grid = call.inputs[1];
  if (data.rank() < 3 || grid.rank() != data.rank() || grid.shape.back() != data.rank() - 2 ||
      grid.shape[0] != data.shape[0] || !grid.dtype.is_float()) {
    return does_not_fit(call, "the grid does not belong to the data");
  }
  TensorType type{data.dtype, {data.shape[0], data.shape[1]}, {}};
  type.shape.insert(type.shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  return std::vector{type};
}

struct Rules {
  std::string mode, padding;
  bool align;
};

// Mirrored into low … high, as often as needed.
ir::Expr reflected(const ir::Expr& place, double low, double high) {
  const ir::DType type = place.type();
  const double period = 2 * (high - low);
  if (period == 0) return imm(type, low);
  const ir::Expr turns =
      ir::math(ir::MathFn::Floor, {(place - imm(type, low)) / imm(type, period)});
  const ir::Expr rest = place - imm(type, low) - turns * imm(type, period);
  return ir::min(rest, imm(type, period) - rest) + imm(type, low);
}

ir::Expr reflected_index(const ir::Expr& place, std::int64_t extent, bool align) {
  if (extent == 1) return 0;
  const std::int64_t period = align ? 2 * (extent - 1) : 2 * extent;
  const ir::Expr rest = place % ir::Expr(period);
  return ir::min(rest, ir::Expr(align ? period : period - 1) - rest);
}

// From -1 … 1 to elements, and, by the padding mode, into the tensor.
ir::Expr element_place(const Rules& rules, const ir::Expr& normal, std::int64_t extent) {
  const ir::DType type = normal.type();
  const auto size = static_cast<double>(extent);
  ir::Expr place = rules.align
                       ? (normal + imm(type, 1)) / imm(type, 2) * imm(type, size - 1)
                       : ((normal + imm(type, 1)) * imm(type, size) - imm(type, 1)) / imm(type, 2);
  if (rules.mode == "nearest") place = ir::math(ir::MathFn::Round, {place});
  if (rules.padding == "zeros") return place;
  const double low = rules.align ? 0 : -0.5, high = rules.align ? size - 1 : size - 0.5;
  const ir::Expr inside = place >= imm(type, low) && place <= imm(type, high);
  const ir::Expr moved = rules.padding == "border"
                             ? ir::max(ir::min(place, imm(type, size - 1)), imm(type, 0))
                             : reflected(place, low, high);
  return ir::select(inside, place, moved);
}

Pixel pixels(const Rules& rules, const Read& data, const Shape& spatial, const Index& leading,
             ir::DType type) {
  if (rules.padding == "zeros") return pixels_or_zero(data, spatial, leading, type);
  return [=](const Index& places) {
    Index index = leading;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const ir::Expr place = rules.padding == "reflection"
                                 ? reflected_index(places[i], spatial[i], rules.align)
                                 : places[i];
      index.push_back(clamped(place, spatial[i]));
    }
    return ir::cast(type, data(index));
  };
}

Result<ir::Buffer> grid_sample_stages(ir::Program& program, const OpCall& call,
                                      const std::vector<Read>& inputs) {
  const Rules rules{call.word("mode"), call.word("padding_mode"),
                    call.integer("align_corners") != 0};
  const TensorType& data = call.inputs[0];
  const TensorType& grid = call.inputs[1];
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  const ir::DType type = sum_type(grid.dtype);
  // places[n, out…, d]: x first in the grid, last in the tensor.
  const std::vector<ir::Axis> grid_axes = axes_of(grid.shape);
  const ir::Expr normal = ir::cast(type, inputs[1](variables_of(grid_axes)));
  ir::Expr place;
  for (std::size_t d = 0; d < spatial.size(); ++d) {
    const ir::Expr one = element_place(rules, normal, spatial[spatial.size() - 1 - d]);
    place =
        place ? ir::select(ir::axis_var(grid_axes.back()) == ir::Expr(std::int64_t(d)), one, place)
              : one;
  }
  const ir::Buffer places =
      ir::add_compute(program, free_stage_name(program, "places"), grid_axes, place);

  ATTUNE_ASSIGN(const std::vector<TensorType> types, infer_grid_sample(call));
  const std::vector<ir::Axis> axes = axes_of(types[0].shape);
  const Index index = variables_of(axes);
  std::vector<Taps> taps;
  for (std::size_t d = 0; d < spatial.size(); ++d) {
    Index at{index[0]};
    at.insert(at.end(), index.begin() + 2, index.end());
    at.emplace_back(static_cast<std::int64_t>(spatial.size() - 1 - d));
    const ir::Expr real = ir::load(places, at);
    taps.push_back(rules.mode == "nearest"  ? nearest_tap(real)
                   : rules.mode == "linear" ? linear_taps(real)
                                            : cubic_taps(real));
  }
  const Pixel pixel = pixels(rules, inputs[0], spatial, {index[0], index[1]}, type);
  return ir::add_compute(program, free_stage_name(program, "anchor"), axes,
                         interpolate(taps, pixel));
}

}  // namespace

std::vector<OpDef> grid_sample_operators() {
  return {by_stages("grid_sample", OpKind::Opaque, infer_grid_sample, grid_sample_stages)};
}

}  // namespace attune::ops
