// Arithmetic in one form: constants stand on the right, x - c is x + (-c), x / c is x * (1/c),
// x^2 is x * x; neutral constants go, chains of constants become one constant, casts that lose
// nothing are skipped.
#include <cmath>

#include "compiler/graph/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// add(c, x) -> add(x, c)
bool order_operands(Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (!operator_of(node).traits.commutative || rewriter.constant_of(node.inputs[0]) == nullptr ||
      rewriter.constant_of(node.inputs[1]) != nullptr) {
    return false;
  }
  rewriter.update(n, {node.inputs[1], node.inputs[0]}, node.attributes);
  return true;
}

// x + 0, x * 1, x - 0, x / 1, x ^ 1
bool drop_neutral(Rewriter& rewriter, const Node& node) {
  const bool sum = node.op == "add" || node.op == "sub";
  const bool product = node.op == "mul" || node.op == "div" || node.op == "pow";
  if (!sum && !product) return false;
  if (rewriter.type(node.outputs[0]) != rewriter.type(node.inputs[0])) return false;
  return number_of(rewriter, node.inputs[1]) == (sum ? 0.0 : 1.0) &&
         rewriter.replace(node.outputs[0], node.inputs[0]);
}

bool has_exact_reciprocal(const Constant& constant) {
  for (std::int64_t i = 0; i < constant.type.elements(); ++i) {
    int exponent = 0;
    if (std::abs(std::frexp(constant.real(i), &exponent)) != 0.5) return false;
  }
  return true;
}

bool has_zero(const Constant& constant) {
  for (std::int64_t i = 0; i < constant.type.elements(); ++i) {
    if (constant.real(i) == 0) return true;
  }
  return false;
}

// x - c -> x + (-c); x / c -> x * (1/c)
bool invert_constant(Rewriter& rewriter, const Node& node, bool exact) {
  if (node.op != "sub" && node.op != "div") return false;
  const ConstantPtr constant = rewriter.constant_of(node.inputs[1]);
  if (constant == nullptr || rewriter.constant_of(node.inputs[0]) != nullptr ||
      !constant->type.dtype.is_float()) {
    return false;
  }
  const bool division = node.op == "div";
  if (division && (has_zero(*constant) || (exact && !has_exact_reciprocal(*constant)))) {
    return false;
  }
  const ConstantPtr inverse =
      map_constant(*constant, [division](double value) { return division ? 1 / value : -value; });
  const ValueId operand = rewriter.add_constant(inverse, rewriter.value(node.inputs[1]).name);
  return rewriter.replace(node.outputs[0], rewriter.add(division ? "mul" : "add",
                                                        {node.inputs[0], operand}, {}, node.name));
}

// (x + a) + b -> x + (a + b), and so for products
bool join_constants(Rewriter& rewriter, const Node& node) {
  if (!operator_of(node).traits.commutative) return false;
  const Node* inner = made_only_by(rewriter, node.inputs[0], node.op);
  if (inner == nullptr || rewriter.constant_of(node.inputs[1]) == nullptr ||
      rewriter.constant_of(inner->inputs[1]) == nullptr ||
      rewriter.constant_of(inner->inputs[0]) != nullptr) {
    return false;
  }
  const ValueId joined = rewriter.add(node.op, {inner->inputs[1], node.inputs[1]}, {}, node.name);
  if (rewriter.constant_of(joined) == nullptr) return false;
  const ValueId result = rewriter.add(node.op, {inner->inputs[0], joined}, {}, node.name);
  return rewriter.replace(node.outputs[0], result);
}

// x ^ 2 -> x * x; x ^ 0.5 -> sqrt(x)
bool simplify_power(Rewriter& rewriter, const Node& node) {
  if (node.op != "pow" || rewriter.type(node.outputs[0]) != rewriter.type(node.inputs[0])) {
    return false;
  }
  const std::optional<double> exponent = number_of(rewriter, node.inputs[1]);
  const ValueId x = node.inputs[0];
  if (exponent == 2.0) {
    return rewriter.replace(node.outputs[0], rewriter.add("mul", {x, x}, {}, node.name));
  }
  if (exponent == 0.5 && rewriter.type(x).dtype.is_float() && has_operators({"sqrt"})) {
    return rewriter.replace(node.outputs[0], rewriter.add("sqrt", {x}, {}, node.name));
  }
  return false;
}

// Whether every value of one type is a value of the other.
bool holds_all(ir::DType wide, ir::DType narrow) {
  if (wide == narrow || narrow.is_bool()) return true;
  if (wide.is_bool()) return false;
  if (wide.is_int() && narrow.is_int()) {
    const bool same_sign = wide.kind == narrow.kind;
    return same_sign ? wide.bits >= narrow.bits
                     : wide.kind == ir::TypeKind::Int && wide.bits > narrow.bits;
  }
  const auto digits = [](ir::DType type) {
    if (type.kind == ir::TypeKind::BFloat) return 8;
    return type.bits == 64 ? 53 : type.bits == 32 ? 24 : 11;
  };
  if (wide.is_float() && narrow.is_int()) return digits(wide) >= narrow.bits;
  // f16 and bf16 do not hold each other.
  return wide.is_float() && narrow.is_float() && wide.bits > narrow.bits;
}

// cast(cast(x)) -> cast(x) where the inner one loses nothing
bool skip_cast(Rewriter& rewriter, const Node& node) {
  if (node.op != "cast") return false;
  const ValueId x = node.inputs[0];
  if (rewriter.type(x) == rewriter.type(node.outputs[0])) {
    return rewriter.replace(node.outputs[0], x);
  }
  const Node* inner = made_by(rewriter, x, "cast");
  if (inner == nullptr ||
      !holds_all(rewriter.type(x).dtype, rewriter.type(inner->inputs[0]).dtype)) {
    return false;
  }
  const ValueId original = inner->inputs[0];
  if (rewriter.type(original) == rewriter.type(node.outputs[0])) {
    return rewriter.replace(node.outputs[0], original);
  }
  return rewriter.replace(node.outputs[0],
                          rewriter.add("cast", {original}, node.attributes, node.name));
}

}  // namespace

Result<Graph> simplify_arithmetic(const Graph& graph, const PassContext& context) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) {
    const Node& node = rewriter.node(n);
    return order_operands(rewriter, n) || drop_neutral(rewriter, node) ||
           invert_constant(rewriter, node, context.exact) || join_constants(rewriter, node) ||
           simplify_power(rewriter, node) || skip_cast(rewriter, node);
  });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
