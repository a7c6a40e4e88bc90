// Softmax and its kin along one axis (attribute axis), and running sums.
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/definitions/reduced_axes.h"
#include "compiler/ops/masked_rows.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;
using ir::Reduction;

Types infer_rows(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, TypeSet::Floats));
  ATTUNE_RETURN_IF_ERROR(check_axes(call, {call.integer("axis")}));
  // The runtime has a softmax for sizes that depend on data.
  if (call.name != "softmax") ATTUNE_RETURN_IF_ERROR(require_static(call));
  return std::vector{call.inputs[0]};
}

// Whether rows that have nothing but minus infinity become 0; without the attribute they are NaN.
bool zeroes_masked(const OpCall& call) {
  return call.has_attribute("masked") && call.integer("masked") != 0;
}

// The stages that softmax and its logarithm share, for one call.
struct Rows {
  Rows(ir::Program& target, const OpCall& call, const std::vector<Read>& inputs)
      : program(target),
        shape(call.inputs[0].shape),
        axis(static_cast<std::size_t>(call.integer("axis"))),
        rows(shape, {call.integer("axis")}, false),
        wide(computed_in(call.inputs[0].dtype)),
        x([this, read = inputs[0]](const std::vector<Expr>& place) {
          return ir::cast(wide, read(place));
        }),
        all(axes_of(shape)) {
    for (const ir::Axis& a : all) index.push_back(ir::axis_var(a));
    row = index;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(axis));
    greatest = ir::add_reduce(program, free_stage_name(program, "max"), rows.kept(), rows.reduced(),
                              Reduction::Max, x(rows.input_index()));
  }

  ir::Buffer sum_of(const Expr& value) {
    return ir::add_reduce(program, free_stage_name(program, "sum"), rows.kept(), rows.reduced(),
                          Reduction::Sum, value);
  }

  ir::Program& program;
  std::vector<std::int64_t> shape;
  std::size_t axis;
  ReducedAxes rows;
  ir::DType wide;
  Read x;
  std::vector<ir::Axis> all;
  std::vector<Expr> index, row;  // of an element, and of its row
  ir::Buffer greatest;
};

Result<ir::Buffer> softmax_stages(ir::Program& program, const OpCall& call,
                                  const std::vector<Read>& inputs) {
  Rows rows(program, call, inputs);
  Expr greatest = ir::load(rows.greatest, rows.row);
  if (zeroes_masked(call)) greatest = finite_greatest(greatest);
  const Expr distance = rows.x(rows.index) - greatest;
  const ir::Buffer power = ir::add_compute(program, free_stage_name(program, "exp"), rows.all,
                                           ir::math(MathFn::Exp, {distance}));
  const ir::Buffer sum = rows.sum_of(ir::load(power, rows.rows.input_index()));
  // One division per row: the reciprocal does not depend on the place in it.
  Expr total = ir::load(sum, rows.row);
  if (zeroes_masked(call)) total = positive_sum(total);
  const Expr scale = imm(rows.wide, 1) / total;
  return ir::add_compute(program, free_stage_name(program, "anchor"), rows.all,
                         ir::load(power, rows.index) * scale);
}

Result<ir::Buffer> log_softmax_stages(ir::Program& program, const OpCall& call,
                                      const std::vector<Read>& inputs) {
  Rows rows(program, call, inputs);
  const ReducedAxes& reduced = rows.rows;
  const ir::Buffer sum =
      rows.sum_of(ir::math(MathFn::Exp, {rows.x(reduced.input_index()) -
                                         ir::load(rows.greatest, reduced.kept_index())}));
  return ir::add_compute(program, free_stage_name(program, "anchor"), rows.all,
                         rows.x(rows.index) - ir::load(rows.greatest, rows.row) -
                             ir::math(MathFn::Log, {ir::load(sum, rows.row)}));
}

// 1 at the first of the greatest of a row, 0 elsewhere.
Result<ir::Buffer> hardmax_stages(ir::Program& program, const OpCall& call,
                                  const std::vector<Read>& inputs) {
  const std::vector<std::int64_t>& shape = call.inputs[0].shape;
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  const ReducedAxes rows(shape, {call.integer("axis")}, false);
  const auto places = ir::add_arg_reduce(
      program, free_stage_name(program, "place"), rows.kept(), rows.reduced(), Reduction::ArgMax,
      widened(inputs[0](rows.input_index())), rows.input_index()[axis]);
  const std::vector<ir::Axis> all = axes_of(shape);
  std::vector<Expr> row;
  for (std::size_t d = 0; d < all.size(); ++d) {
    if (d != axis) row.push_back(ir::axis_var(all[d]));
  }
  const ir::DType type = call.inputs[0].dtype;
  return ir::add_compute(
      program, free_stage_name(program, "anchor"), all,
      ir::select(ir::load(places[1], row) == ir::axis_var(all[axis]), imm(type, 1), imm(type, 0)));
}

Types infer_running(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, TypeSet::Numbers));
  ATTUNE_RETURN_IF_ERROR(check_axes(call, {call.integer("axis")}));
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  return std::vector{call.inputs[0]};
}

// Doubling (Hillis and Steele, "Data parallel algorithms", 1986): after step s every element holds
// the total of the 2^s elements up to it.
template <Reduction reduction>
Result<ir::Buffer> running_stages(ir::Program& program, const OpCall& call,
                                  const std::vector<Read>& inputs) {
  const std::vector<std::int64_t>& shape = call.inputs[0].shape;
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  const std::int64_t extent = shape[axis];
  const ir::DType wide = sum_type(call.inputs[0].dtype);
  const Expr neutral = ir::identity_of(reduction, wide);
  const std::vector<ir::Axis> axes = axes_of(shape);
  std::vector<Expr> index;
  for (const ir::Axis& a : axes) index.push_back(ir::axis_var(a));
  const bool reverse = call.integer("reverse") != 0;
  const auto at = [&](const Expr& place) {
    std::vector<Expr> moved = index;
    moved[axis] = place;
    return moved;
  };
  const Expr here = index[axis];
  const Expr from = reverse ? ir::Expr(extent - 1) - here : here;
  Expr first = ir::cast(wide, inputs[0](at(from)));
  if (call.integer("exclusive") != 0) {
    const Expr before = reverse ? from + ir::Expr(1) : from - ir::Expr(1);
    first = ir::select(here > 0, ir::cast(wide, inputs[0](at(before))), neutral);
  }
  ir::Buffer last = ir::add_compute(program, free_stage_name(program, "step"), axes, first);
  for (std::int64_t reach = 1; reach < extent; reach *= 2) {
    const Expr other =
        ir::select(here >= ir::Expr(reach), ir::load(last, at(here - ir::Expr(reach))), neutral);
    last = ir::add_compute(program, free_stage_name(program, "step"), axes,
                           ir::combine(reduction, ir::load(last, index), other));
  }
  return ir::add_compute(program, free_stage_name(program, "anchor"), axes,
                         ir::load(last, at(from)));
}

}  // namespace

std::vector<OpDef> row_operators() {
  constexpr auto kind = OpKind::Opaque;
  return {
      by_stages("softmax", kind, infer_rows, softmax_stages, {.never_negative = true}),
      by_stages("log_softmax", kind, infer_rows, log_softmax_stages),
      by_stages("hardmax", kind, infer_rows, hardmax_stages),
      // axis, exclusive, reverse
      by_stages("cumsum", kind, infer_running, running_stages<Reduction::Sum>),
      by_stages("cumprod", kind, infer_running, running_stages<Reduction::Prod>),
  };
}

}  // namespace attune::ops
