// Operators whose results have one element for each (broadcast) element of their operands.
#include <fmt/format.h>

#include <limits>

#include "compiler/frontend/onnx/converters.h"

namespace attune::onnx {
namespace {

struct Name {
  std::string_view onnx, graph;
};

// Operators without attributes, that differ in nothing but the name.
constexpr Name kUnary[] = {
    {"Abs", "abs"},
    {"Acos", "acos"},
    {"Acosh", "acosh"},
    {"Asin", "asin"},
    {"Asinh", "asinh"},
    {"Atan", "atan"},
    {"Atanh", "atanh"},
    {"BitwiseNot", "bit_not"},
    {"Ceil", "ceil"},
    {"Cos", "cos"},
    {"Cosh", "cosh"},
    {"Erf", "erf"},
    {"Exp", "exp"},
    {"Floor", "floor"},
    {"HardSwish", "hard_swish"},
    {"IsNaN", "is_nan"},
    {"Log", "log"},
    {"Mish", "mish"},
    {"Neg", "neg"},
    {"Not", "not"},
    {"Reciprocal", "reciprocal"},
    {"Relu", "relu"},
    {"Round", "round"},
    {"Sigmoid", "sigmoid"},
    {"Sign", "sign"},
    {"Sin", "sin"},
    {"Sinh", "sinh"},
    {"Softplus", "softplus"},
    {"Softsign", "softsign"},
    {"Sqrt", "sqrt"},
    {"Tan", "tan"},
    {"Tanh", "tanh"},
};
constexpr Name kBinary[] = {
    {"Add", "add"},
    {"And", "and"},
    {"BitwiseAnd", "bit_and"},
    {"BitwiseOr", "bit_or"},
    {"BitwiseXor", "bit_xor"},
    {"Div", "div"},
    {"Equal", "equal"},
    {"Greater", "greater"},
    {"GreaterOrEqual", "greater_or_equal"},
    {"Less", "less"},
    {"LessOrEqual", "less_or_equal"},
    {"Mul", "mul"},
    {"Or", "or"},
    {"Pow", "pow"},
    {"Sub", "sub"},
    {"Xor", "xor"},
};

template <std::size_t count>
std::string graph_name(const Name (&names)[count], const std::string& op) {
  for (const Name& name : names) {
    if (name.onnx == op) return std::string(name.graph);
  }
  CHECK(false, fmt::format("'{}' is in the table", op));
}

// Before operator set 7, `axis` says where the dimensions of the second operand begin.
Result<ValueId> old_broadcast(NodeContext& node) {
  const ValueId b = node.input(1);
  if (node.opset() >= 7 || !node.flag("broadcast") || !node.has_attribute("axis")) return b;
  const int rank = node.rank(node.input(0));
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(node.integer("axis", 0), rank));
  std::vector<std::int64_t> shape = node.shape(b);
  while (axis + static_cast<std::int64_t>(shape.size()) < rank) shape.push_back(1);
  return node.reshape(b, std::move(shape));
}

Result<ValueId> swish(NodeContext& node, ValueId x) {
  const double alpha = node.real("alpha", 1);
  if (alpha == 1) return node.add("silu", {x});
  return node.add("swish", {x}, {{"alpha", alpha}});
}

}  // namespace

Converted convert_unary(NodeContext& node) {
  return one(node.add(graph_name(kUnary, node.op()), {node.input(0)}));
}

Converted convert_binary(NodeContext& node) {
  ATTUNE_ASSIGN(const ValueId b, old_broadcast(node));
  return one(node.add(graph_name(kBinary, node.op()), {node.input(0), b}));
}

Converted convert_mod(NodeContext& node) {
  return one(
      node.add("mod", {node.input(0), node.input(1)}, {{"fmod", std::int64_t{node.flag("fmod")}}}));
}

Converted convert_bit_shift(NodeContext& node) {
  const std::string direction = node.word("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return invalid(fmt::format("direction is '{}', must be LEFT or RIGHT", direction));
  }
  return one(node.add("bit_shift", {node.input(0), node.input(1)}, {{"direction", direction}}));
}

Converted convert_is_inf(NodeContext& node) {
  return one(node.add("is_inf", {node.input(0)},
                      {{"detect_negative", std::int64_t{node.flag("detect_negative", true)}},
                       {"detect_positive", std::int64_t{node.flag("detect_positive", true)}}}));
}

Converted convert_where(NodeContext& node) {
  return one(node.add("where", {node.input(0), node.input(1), node.input(2)}));
}

// Min, Max, Sum and Mean of any number of operands.
Converted convert_variadic(NodeContext& node) {
  const std::string op = node.op() == "Min" ? "min" : node.op() == "Max" ? "max" : "add";
  ValueId total = node.input(0);
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (!node.has(i)) return invalid(fmt::format("input {} is left out", i));
    ATTUNE_ASSIGN(total, node.add(op, {total, node.input(i)}));
  }
  if (node.op() == "Mean" && node.input_count() > 1) {
    const ValueId count = node.scalar(node.dtype(total), static_cast<double>(node.input_count()));
    ATTUNE_ASSIGN(total, node.add("div", {total, count}));
  }
  return std::vector{total};
}

Converted convert_clip(NodeContext& node) {
  const ValueId x = node.input(0);
  ValueId least = node.input(1), most = node.input(2);
  if (node.opset() < 11) {
    if (node.has_attribute("min")) least = node.scalar(node.dtype(x), node.real("min", 0));
    if (node.has_attribute("max")) most = node.scalar(node.dtype(x), node.real("max", 0));
  }
  if (least == kNoValue && most == kNoValue) return std::vector{x};
  for (const ValueId bound : {least, most}) {
    if (bound != kNoValue && node.type(bound).elements() != 1) {
      return invalid(
          fmt::format("a bound is {}, must be a scalar", ops::to_string(node.type(bound))));
    }
  }
  if (least != kNoValue) {
    ATTUNE_ASSIGN(least, node.reshape(least, {}));
  }
  if (most != kNoValue) {
    ATTUNE_ASSIGN(most, node.reshape(most, {}));
  }
  std::vector<ValueId> inputs{x, least};
  if (most != kNoValue) inputs.push_back(most);
  return one(node.add("clip", std::move(inputs)));
}

Converted convert_prelu(NodeContext& node) {
  const ValueId x = node.input(0);
  ValueId slope = node.input(1);
  // Slopes of channels: before operator set 7 one per channel, and so in some later models.
  const std::vector<std::int64_t>& shape = node.shape(x);
  const std::int64_t count = node.type(slope).elements();
  const bool per_channel = node.rank(slope) == 1 && shape.size() > 2 && count != 1 &&
                           shape[1] == count && (node.opset() < 7 || shape.back() != count);
  if (per_channel) {
    std::vector<std::int64_t> wanted(shape.size() - 1, 1);
    wanted[0] = count;
    ATTUNE_ASSIGN(slope, node.reshape(slope, std::move(wanted)));
  }
  return one(node.add("prelu", {x, slope}));
}

// Activations with parameters: the attributes of the node are those of the operator.
Converted convert_activation(NodeContext& node) {
  const std::string& op = node.op();
  const ValueId x = node.input(0);
  const auto alpha = [&](double fallback) {
    return std::pair<const std::string, ops::Attribute>("alpha", node.real("alpha", fallback));
  };
  if (op == "LeakyRelu") return one(node.add("leaky_relu", {x}, {alpha(0.01)}));
  if (op == "Elu") return one(node.add("elu", {x}, {alpha(1)}));
  if (op == "Celu") return one(node.add("celu", {x}, {alpha(1)}));
  if (op == "ThresholdedRelu") return one(node.add("thresholded_relu", {x}, {alpha(1)}));
  if (op == "HardSigmoid") {
    return one(node.add("hard_sigmoid", {x}, {alpha(0.2), {"beta", node.real("beta", 0.5)}}));
  }
  if (op == "Selu") {
    const double gamma = node.opset() < 6 ? 1.0507 : 1.05070102214813232421875;
    const double scale = node.opset() < 6 ? 1.6732 : 1.67326319217681884765625;
    return one(node.add("selu", {x}, {alpha(scale), {"gamma", node.real("gamma", gamma)}}));
  }
  if (op == "Shrink") {
    return one(node.add("shrink", {x},
                        {{"lambd", node.real("lambd", 0.5)}, {"bias", node.real("bias", 0)}}));
  }
  if (op == "Swish") return one(swish(node, x));
  CHECK(op == "Gelu", fmt::format("'{}' is an activation", op));
  const std::string approximate = node.word("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return invalid(fmt::format("approximate is '{}', must be none or tanh", approximate));
  }
  return one(node.add("gelu", {x}, {{"approximate", approximate}}));
}

Converted convert_swiglu(NodeContext& node) {
  const ValueId gate = node.input(0), value = node.input(1);
  if (!(node.type(gate) == node.type(value))) {
    return invalid(fmt::format("the gate is {}, what it lets through is {}",
                               ops::to_string(node.type(gate)), ops::to_string(node.type(value))));
  }
  ATTUNE_ASSIGN(const ValueId opened, swish(node, gate));
  return one(node.add("mul", {opened, value}));
}

// Inference: the input as it is, and a mask that drops nothing.
Converted convert_dropout(NodeContext& node) {
  bool training = false;
  if (node.has(2)) {
    ATTUNE_ASSIGN(const ConstantPtr mode, node.constant_input(2, "training_mode"));
    training = mode->type.elements() == 1 && mode->integer(0) != 0;
  }
  if (training) {
    double ratio = 0.5;
    if (node.has(1)) {
      ATTUNE_ASSIGN(const ConstantPtr value, node.constant_input(1, "ratio"));
      if (value->type.elements() == 1) ratio = value->real(0);
    }
    if (ratio != 0) return unsupported("dropout in training mode is random");
  }
  const ValueId x = node.input(0);
  std::vector<ValueId> results{x};
  if (node.wants_output(1)) {
    TensorType mask = node.type(x);
    if (node.opset() >= 10) mask.dtype = ir::kBool;
    ATTUNE_ASSIGN(const ValueId kept, node.filled(mask.dtype, mask.shape, 1));
    results.push_back(kept);
  }
  return results;
}

}  // namespace attune::onnx
