// Determinants, and the rotation of pairs by position (rotary embedding).
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;

constexpr std::int64_t kLargestDeterminant = 32;

Types infer_det(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, TypeSet::Floats));
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  TensorType type = call.inputs[0];
  if (type.rank() < 2 || type.shape.back() != type.shape[type.shape.size() - 2]) {
    return does_not_fit(call, "needs square matrices");
  }
  if (type.shape.back() > kLargestDeterminant) {
    return unsupported(
        fmt::format("det of {}: more than {} rows", to_string(type), kLargestDeterminant));
  }
  type.shape.resize(type.shape.size() - 2);
  return std::vector{type};
}

// One step of Gaussian elimination below row k, with the row of the greatest pivot swapped in.
class Elimination {
 public:
  Elimination(ir::Program& program, const std::vector<std::int64_t>& shape)
      : program_(program), axes_(axes_of(shape)), n_(shape.back()) {
    for (const ir::Axis& a : axes_) index_.push_back(ir::axis_var(a));
    batch_.assign(index_.begin(), index_.end() - 2);
    batch_axes_.assign(axes_.begin(), axes_.end() - 2);
  }

  const std::vector<ir::Axis>& axes() const { return axes_; }
  const std::vector<ir::Axis>& batch_axes() const { return batch_axes_; }
  const std::vector<Expr>& index() const { return index_; }

  std::vector<Expr> at(const Expr& row, const Expr& column) const {
    std::vector<Expr> index = batch_;
    index.push_back(row);
    index.push_back(column);
    return index;
  }

  ir::Buffer step(const ir::Buffer& matrix, std::int64_t k) {
    const ir::Axis below{"r0", n_ - k};
    const Expr candidate = ir::axis_var(below) + Expr(k);
    const auto places = ir::add_arg_reduce(
        program_, free_stage_name(program_, "pivot"), batch_axes_, {below}, ir::Reduction::ArgMax,
        ir::math(MathFn::Abs, {ir::load(matrix, at(candidate, Expr(k)))}), candidate);
    const Expr pivot_row = clamped(ir::load(places[1], batch_), n_);
    pivots_.push_back(ir::load(places[1], batch_) == Expr(k));
    const Expr row = index_[index_.size() - 2], column = index_.back();
    const Expr source =
        ir::select(row == Expr(k), pivot_row, ir::select(row == pivot_row, Expr(k), row));
    const Expr value = ir::load(matrix, at(source, column));
    const Expr pivot = ir::load(matrix, at(pivot_row, Expr(k)));
    const Expr zero = ir::zero_of(pivot.type());
    const Expr factor =
        ir::select(pivot == zero, zero, ir::load(matrix, at(source, Expr(k))) / pivot);
    const Expr reduced = value - factor * ir::load(matrix, at(pivot_row, column));
    return ir::add_compute(program_, free_stage_name(program_, "eliminate"), axes_,
                           ir::select(row > Expr(k), reduced, value));
  }

  // The product of the diagonal; every swap turns the sign.
  ir::Buffer finish(const ir::Buffer& matrix) {
    Expr value = ir::load(matrix, at(Expr(0), Expr(0)));
    for (std::int64_t k = 1; k < n_; ++k) value = value * ir::load(matrix, at(Expr(k), Expr(k)));
    for (const Expr& in_place : pivots_) {
      value = ir::select(in_place, value, ir::math(MathFn::Neg, {value}));
    }
    return ir::add_compute(program_, free_stage_name(program_, "anchor"), batch_axes_, value);
  }

 private:
  ir::Program& program_;
  std::vector<ir::Axis> axes_, batch_axes_;
  std::vector<Expr> index_, batch_;
  std::vector<Expr> pivots_;
  std::int64_t n_;
};

Result<ir::Buffer> det_stages(ir::Program& program, const OpCall& call,
                              const std::vector<Read>& inputs) {
  const std::vector<std::int64_t>& shape = call.inputs[0].shape;
  Elimination elimination(program, shape);
  ir::Buffer matrix = ir::add_compute(program, free_stage_name(program, "matrix"),
                                      elimination.axes(), widened(inputs[0](elimination.index())));
  for (std::int64_t k = 0; k + 1 < shape.back(); ++k) matrix = elimination.step(matrix, k);
  return elimination.finish(matrix);
}

// x [batch, sequence, heads, size], cos and sin [batch, sequence, pairs], or with positions
// [batch, sequence] as the fourth operand [most positions, pairs].
Types infer_rotary(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& x = call.inputs[0];
  const std::int64_t pairs = call.integer("pairs");
  const std::size_t rank = call.has(3) ? 2 : 3;
  bool fits = x.rank() == 4 && x.dtype.is_float() && pairs >= 1 && 2 * pairs <= x.shape[3];
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const TensorType& cache = call.inputs[i];
    fits =
        fits && cache.dtype == x.dtype && cache.shape.size() == rank && cache.shape.back() == pairs;
    if (fits && rank == 3) fits = cache.shape[0] == x.shape[0] && cache.shape[1] == x.shape[1];
  }
  if (fits && rank == 2) {
    fits = call.inputs[3].dtype.is_int() &&
           call.inputs[3].shape == std::vector{x.shape[0], x.shape[1]};
  }
  if (!fits) return does_not_fit(call, fmt::format("shapes for {} pairs", pairs));
  return std::vector{x};
}

Expr rotary_element(const OpCall& call, const std::vector<Read>& inputs,
                    const std::vector<Expr>& index) {
  const std::int64_t pairs = call.integer("pairs");
  const bool interleaved = call.integer("interleaved") != 0;
  const Expr h = index[3];
  const Expr pair = interleaved ? h / Expr(2) : h % Expr(pairs);
  const Expr is_second = interleaved ? h % Expr(2) == Expr(1) : h >= Expr(pairs);
  const auto x = [&](const Expr& place) {
    return widened(inputs[0]({index[0], index[1], index[2], place}));
  };
  const auto cache = [&](std::size_t i) {
    if (!call.has(3)) return widened(inputs[i]({index[0], index[1], pair}));
    const Expr position = data_index(inputs[3]({index[0], index[1]}), call.inputs[i].shape[0]);
    return widened(inputs[i]({position, pair}));
  };
  const Expr first = x(interleaved ? pair * Expr(2) : pair);
  const Expr second = x(interleaved ? pair * Expr(2) + Expr(1) : pair + Expr(pairs));
  const Expr turned = ir::select(is_second, cache(2) * first + cache(1) * second,
                                 cache(1) * first - cache(2) * second);
  if (2 * pairs == call.inputs[0].shape[3]) return ir::cast(call.inputs[0].dtype, turned);
  return ir::cast(call.inputs[0].dtype, ir::select(h < Expr(2 * pairs), turned, x(h)));
}

}  // namespace

std::vector<OpDef> linear_algebra_operators() {
  return {
      by_stages("det", OpKind::Opaque, infer_det, det_stages),
      // Operands: x, cos, sin, positions (may be left out). pairs, interleaved
      by_element("rotary_embedding", OpKind::Injective, infer_rotary, rotary_element),
  };
}

}  // namespace attune::ops
