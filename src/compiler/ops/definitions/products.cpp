// Matrix products with any number of leading dimensions, and sums of products by index labels.
#include <fmt/format.h>

#include <map>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;

// Sums of small integers are handed out in i32.
ir::DType product_type(ir::DType type) { return type.is_float() ? type : sum_type(type); }

std::vector<std::int64_t> leading(const TensorType& type) {
  return {type.shape.begin(), type.shape.end() - 2};
}

Types infer_matmul(const OpCall& call) {
  const TensorType& a = call.inputs[0];
  const TensorType& b = call.inputs[1];
  const bool small = a.dtype.is_int() && b.dtype.is_int() && a.dtype.bits == 8 && b.dtype.bits == 8;
  if (a.dtype.is_bool() || (a.dtype != b.dtype && !small)) {
    return invalid(fmt::format("matmul of {} and {} has no meaning", to_string(a), to_string(b)));
  }
  if (a.rank() < 2 || b.rank() < 2) return does_not_fit(call, "needs two dimensions or more");
  if (a.shape.back() != b.shape[b.shape.size() - 2]) {
    return does_not_fit(
        call, fmt::format("{} columns and {} rows", a.shape.back(), b.shape[b.shape.size() - 2]));
  }
  const std::vector<std::vector<std::int64_t>> batches{leading(a), leading(b)};
  ATTUNE_ASSIGN(std::vector<std::int64_t> shape, broadcast_shape(batches));
  TensorType type{product_type(a.dtype), std::move(shape), {}};
  type.shape.push_back(a.shape[a.shape.size() - 2]);
  type.shape.push_back(b.shape.back());
  if (a.is_static() && b.is_static()) return std::vector{type};
  // Rows may be as many as the data says; nothing else.
  const bool only_rows = b.is_static() && b.rank() == 2 && a.extents.back() == kConstantExtent;
  if (!only_rows) return require_static(call).error();
  type.extents = a.extents;
  type.extents.back() = kConstantExtent;
  return std::vector{type};
}

Result<ir::Buffer> matmul_stages(ir::Program& program, const OpCall& call,
                                 const std::vector<Read>& inputs) {
  const TensorType& a = call.inputs[0];
  const TensorType& b = call.inputs[1];
  ATTUNE_ASSIGN(const std::vector<TensorType> types, infer_matmul(call));
  const ir::DType wide = sum_type(a.dtype);
  const std::vector<ir::Axis> axes = axes_of(types[0].shape);
  const ir::Axis k{"k", a.shape.back()};
  std::vector<Expr> batch;
  for (std::size_t d = 0; d + 2 < axes.size(); ++d) batch.push_back(ir::axis_var(axes[d]));
  std::vector<Expr> left = broadcast_index(leading(a), batch);
  std::vector<Expr> right = broadcast_index(leading(b), batch);
  left.push_back(ir::axis_var(axes[axes.size() - 2]));
  left.push_back(ir::axis_var(k));
  right.push_back(ir::axis_var(k));
  right.push_back(ir::axis_var(axes.back()));
  return ir::add_reduce(program, free_stage_name(program, "anchor"), axes, {k}, ir::Reduction::Sum,
                        ir::cast(wide, inputs[0](left)) * ir::cast(wide, inputs[1](right)));
}

// "ab,bc->ac": the labels of each operand, and of the result.
struct Equation {
  std::vector<std::string> operands;
  std::string result;

  explicit Equation(const std::string& text) {
    const std::size_t arrow = text.find("->");
    CHECK(arrow != std::string::npos, "front ends write the result out");
    result = text.substr(arrow + 2);
    operands.emplace_back();
    for (const char c : text.substr(0, arrow)) {
      if (c == ',') {
        operands.emplace_back();
      } else {
        operands.back() += c;
      }
    }
  }
};

// The extent of each label; a dimension of 1 goes with any.
Result<std::map<char, std::int64_t>> label_extents(const OpCall& call, const Equation& equation) {
  std::map<char, std::int64_t> extents;
  if (equation.operands.size() != call.inputs.size()) {
    return does_not_fit(call,
                        fmt::format("the equation has {} operands", equation.operands.size()));
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::string& labels = equation.operands[i];
    const std::vector<std::int64_t>& shape = call.inputs[i].shape;
    if (labels.size() != shape.size()) {
      return does_not_fit(call, fmt::format("operand {} has {} labels", i, labels.size()));
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t& extent = extents.emplace(labels[d], shape[d]).first->second;
      if (extent == 1) extent = shape[d];
      if (shape[d] != 1 && shape[d] != extent) {
        return does_not_fit(call,
                            fmt::format("label '{}' is {} and {}", labels[d], extent, shape[d]));
      }
    }
  }
  return extents;
}

Types infer_einsum(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(check_same_types(call, TypeSet::Numbers));
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const Equation equation(call.word("equation"));
  ATTUNE_ASSIGN(const auto extents, label_extents(call, equation));
  TensorType type{call.inputs[0].dtype, {}, {}};
  for (const char label : equation.result) {
    const auto found = extents.find(label);
    if (found == extents.end()) {
      return does_not_fit(call, fmt::format("no operand has the label '{}'", label));
    }
    type.shape.push_back(found->second);
  }
  return std::vector{type};
}

Result<ir::Buffer> einsum_stages(ir::Program& program, const OpCall& call,
                                 const std::vector<Read>& inputs) {
  const Equation equation(call.word("equation"));
  ATTUNE_ASSIGN(const auto extents, label_extents(call, equation));
  std::vector<ir::Axis> kept, reduced;
  std::map<char, Expr> places;
  for (const char label : equation.result) {
    kept.push_back({fmt::format("d{}", kept.size()), extents.at(label)});
    places[label] = ir::axis_var(kept.back());
  }
  for (const auto& [label, extent] : extents) {
    if (places.count(label) != 0) continue;
    reduced.push_back({fmt::format("r{}", reduced.size()), extent});
    places[label] = ir::axis_var(reduced.back());
  }
  if (reduced.empty()) reduced.push_back({"r0", 1});
  const ir::DType wide = sum_type(call.inputs[0].dtype);
  Expr product;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Expr> index;
    for (std::size_t d = 0; d < equation.operands[i].size(); ++d) {
      index.push_back(call.inputs[i].shape[d] == 1 ? Expr(0) : places[equation.operands[i][d]]);
    }
    const Expr factor = ir::cast(wide, inputs[i](index));
    product = product ? product * factor : factor;
  }
  return ir::add_reduce(program, free_stage_name(program, "anchor"), kept, reduced,
                        ir::Reduction::Sum, product);
}

}  // namespace

std::vector<OpDef> product_operators() {
  return {
      by_stages("matmul", OpKind::Heavy, infer_matmul, matmul_stages, {.host = "MatMul"}),
      // equation, with the labels of the result written out and no "..."
      by_stages("einsum", OpKind::Reduction, infer_einsum, einsum_stages),
  };
}

}  // namespace attune::ops
