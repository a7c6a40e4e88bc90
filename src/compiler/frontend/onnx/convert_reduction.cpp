// Reductions, softmax and running sums.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/frontend/onnx/converters.h"

namespace attune::onnx {
namespace {

struct Name {
  std::string_view onnx, graph;
  double of_nothing;  // the result where no element is reduced; NaN for "see below"
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr Name kReductions[] = {
    {"ReduceSum", "reduce_sum", 0},
    {"ReduceMean", "reduce_mean", kNan},
    {"ReduceProd", "reduce_prod", 1},
    {"ReduceMax", "reduce_max", -kInfinity},
    {"ReduceMin", "reduce_min", kInfinity},
    {"ReduceL1", "reduce_l1", 0},
    {"ReduceL2", "reduce_l2", 0},
    {"ReduceSumSquare", "reduce_sum_square", 0},
    {"ReduceLogSum", "reduce_log_sum", -kInfinity},
    {"ReduceLogSumExp", "reduce_log_sum_exp", -kInfinity},
};

std::vector<std::int64_t> all_axes(int rank) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// The axes from the attribute or from input 1.
Result<std::vector<std::int64_t>> axes_of(NodeContext& node) {
  const int rank = node.rank(node.input(0));
  std::vector<std::int64_t> axes;
  if (node.has(1)) {
    ATTUNE_ASSIGN(axes, node.integers_input(1, "axes"));
  } else if (const auto named = node.integers("axes")) {
    axes = *named;
  }
  if (axes.empty() && !node.flag("noop_with_empty_axes")) return all_axes(rank);
  return node.axes(std::move(axes), rank);
}

// A tensor of the neutral element.
Result<ValueId> reduced_nothing(NodeContext& node, const TensorType& type, double value) {
  if (type.dtype.is_float() || std::isfinite(value)) {
    return node.filled(type.dtype, type.shape, value);
  }
  const auto reduction = value < 0 ? ir::Reduction::Max : ir::Reduction::Min;
  const ir::Expr neutral = ir::identity_of(reduction, type.dtype);
  ATTUNE_RETURN_IF_ERROR(node.count_made(type.dtype, type.shape));
  ir::Array array(type.dtype, type.shape);
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_int(i, *ir::as_int(neutral));
  return node.constant(ops::make_constant(std::move(array)));
}

}  // namespace

Converted convert_reduce(NodeContext& node) {
  const Name* name = nullptr;
  for (const Name& candidate : kReductions) {
    if (candidate.onnx == node.op()) name = &candidate;
  }
  CHECK(name != nullptr, fmt::format("'{}' is in the table", node.op()));
  const ValueId x = node.input(0);
  ATTUNE_ASSIGN(const std::vector<std::int64_t> axes, axes_of(node));
  const bool keep = node.flag("keepdims", true);
  if (node.type(x).elements() == 0) {
    TensorType type{node.dtype(x), {}, {}};
    for (std::size_t d = 0; d < node.shape(x).size(); ++d) {
      const bool reduced =
          std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
      if (!reduced) type.shape.push_back(node.shape(x)[d]);
      if (reduced && keep) type.shape.push_back(1);
    }
    return one(reduced_nothing(node, type, name->of_nothing));
  }
  return one(
      node.add(std::string(name->graph), {x}, {{"axes", axes}, {"keepdims", std::int64_t{keep}}}));
}

Converted convert_arg_extreme(NodeContext& node) {
  const ValueId x = node.input(0);
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(node.integer("axis", 0), node.rank(x)));
  return one(node.add(node.op() == "ArgMax" ? "arg_max" : "arg_min", {x},
                      {{"axis", axis},
                       {"keepdims", std::int64_t{node.flag("keepdims", true)}},
                       {"select_last_index", std::int64_t{node.flag("select_last_index")}}}));
}

// Before operator set 13 all dimensions from the axis on are one.
Converted convert_softmax(NodeContext& node) {
  const std::string op = node.op() == "Softmax"      ? "softmax"
                         : node.op() == "LogSoftmax" ? "log_softmax"
                                                     : "hardmax";
  ValueId x = node.input(0);
  const int rank = node.rank(x);
  const bool flat = node.opset() < 13;
  if (rank == 0) {
    ATTUNE_ASSIGN(x, node.reshape(x, {1}));
    ATTUNE_ASSIGN(x, node.add(op, {x}, {{"axis", std::int64_t{0}}}));
    return one(node.reshape(x, {}));
  }
  const std::int64_t named = node.integer("axis", flat ? 1 : -1);
  if (flat && named == rank) {  // rows of one element
    std::vector<std::int64_t> rows = node.shape(x);
    const std::vector<std::int64_t> shape = rows;
    rows.push_back(1);
    ATTUNE_ASSIGN(x, node.reshape(x, rows));
    ATTUNE_ASSIGN(x, node.add(op, {x}, {{"axis", std::int64_t{rank}}}));
    return one(node.reshape(x, shape));
  }
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(named, rank));
  if (!flat || axis == rank - 1) return one(node.add(op, {x}, {{"axis", axis}}));
  const std::vector<std::int64_t> shape = node.shape(x);
  std::vector<std::int64_t> rows(shape.begin(), shape.begin() + axis);
  rows.push_back(
      std::accumulate(shape.begin() + axis, shape.end(), std::int64_t{1}, std::multiplies<>()));
  ATTUNE_ASSIGN(x, node.reshape(x, rows));
  ATTUNE_ASSIGN(x, node.add(op, {x}, {{"axis", axis}}));
  return one(node.reshape(x, shape));
}

Converted convert_cumulative(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t named, node.integer_input(1, "axis"));
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(named, node.rank(node.input(0))));
  return one(node.add(node.op() == "CumSum" ? "cumsum" : "cumprod", {node.input(0)},
                      {{"axis", axis},
                       {"exclusive", std::int64_t{node.flag("exclusive")}},
                       {"reverse", std::int64_t{node.flag("reverse")}}}));
}

}  // namespace attune::onnx
