// Products and sums with constants per channel behind a convolution or matrix product of constant
// weights become part of its weights and bias:
//   mul(conv(x, w, b), s) -> conv(x, w * s, b * s)      add(conv(x, w, b), t) -> conv(x, w, b + t)
//   mul(matmul(x, w), s) -> matmul(x, w * s)
//   mul(add(matmul(x, w), b), s) -> add(matmul(x, w * s), b * s)
#include "compiler/graph/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// The dimension of the output that the weights' outputs lie along; nothing if the node's weights
// cannot be scaled.
std::optional<std::size_t> channel_dimension(const Rewriter& rewriter, const Node& node) {
  const bool convolution = node.op == "conv" || node.op == "conv_transpose";
  if (!convolution && node.op != "matmul") return std::nullopt;
  const ConstantPtr weight = rewriter.constant_of(node.inputs[1]);
  const TensorType& output = rewriter.type(node.outputs[0]);
  if (weight == nullptr || !weight->type.dtype.is_float() || weight->type.dtype != output.dtype) {
    return std::nullopt;
  }
  if (convolution) {
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
    if (has_bias && rewriter.constant_of(node.inputs[2]) == nullptr) return std::nullopt;
    return 1;
  }
  if (weight->type.rank() != 2 || output.rank() < 2 || !node.attributes.empty()) {
    return std::nullopt;
  }
  return output.shape.size() - 1;
}

// One number per channel from a constant that is constant along all other dimensions of `shape`.
std::optional<std::vector<double>> per_channel(const Constant& constant, const Shape& shape,
                                               std::size_t dimension) {
  const Shape& extents = constant.type.shape;
  if (extents.size() > shape.size() || !constant.type.dtype.is_float()) return std::nullopt;
  const std::size_t offset = shape.size() - extents.size();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] != 1 && i + offset != dimension) return std::nullopt;
  }
  std::vector<double> values = reals(constant);
  if (values.size() == 1) values.resize(static_cast<std::size_t>(shape[dimension]), values[0]);
  return values;
}

// The output channel of each element of the weight is (group, second) for transposed convolutions,
// the first index for plain ones, the last for matrices.
ConstantPtr scale_weight(const Node& node, const Constant& weight,
                         const std::vector<double>& scale) {
  std::vector<double> values = reals(weight);
  const Shape& shape = weight.type.shape;
  const auto extent = [&](std::size_t i) { return static_cast<std::size_t>(shape[i]); };
  // Runs of elements of one channel: taps, or single columns of a matrix.
  const bool matrix = node.op == "matmul", plain = node.op == "conv";
  const std::size_t run = matrix  ? 1
                          : plain ? values.size() / extent(0)
                                  : values.size() / (extent(0) * extent(1));
  const std::size_t outputs = plain ? extent(0) : extent(1);
  const std::size_t inputs = values.size() / (run * outputs);
  const std::size_t in_group =
      matrix || plain ? inputs : inputs / static_cast<std::size_t>(integer_of(node, "group"));
  double* value = values.data();
  for (std::size_t in = 0; in < inputs; ++in) {
    const double* factor = scale.data() + in / in_group * outputs;
    for (std::size_t out = 0; out < outputs; ++out) {
      for (std::size_t i = 0; i < run; ++i) *value++ *= factor[out];
    }
  }
  return real_constant(weight.type, values);
}

// The bias of a convolution after `change` of each channel's; 0 where it had none.
template <typename Change>
ValueId changed_bias(Rewriter& rewriter, const Node& node, Change change) {
  const TensorType& output = rewriter.type(node.outputs[0]);
  const TensorType type{output.dtype, {output.shape[1]}, {}};
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  std::vector<double> values(static_cast<std::size_t>(output.shape[1]), 0.0);
  if (has_bias) values = reals(*rewriter.constant_of(node.inputs[2]));
  for (std::size_t c = 0; c < values.size(); ++c) values[c] = change(values[c], c);
  return rewriter.add_constant(real_constant(type, values), node.name + ".bias");
}

// The node with its weights, and bias if there is one, scaled.
ValueId scaled(Rewriter& rewriter, const Node& node, const std::vector<double>& scale) {
  std::vector<ValueId> inputs = node.inputs;
  const Constant& weight = *rewriter.constant_of(inputs[1]);
  inputs[1] = rewriter.add_constant(scale_weight(node, weight, scale), node.name + ".weight");
  if (inputs.size() > 2 && inputs[2] != kNoValue) {
    inputs[2] =
        changed_bias(rewriter, node, [&](double bias, std::size_t c) { return bias * scale[c]; });
  }
  return rewriter.add(node.op, std::move(inputs), node.attributes, node.name);
}

bool fold_product(Rewriter& rewriter, const Node& product, const Node& heavy, ValueId factor) {
  const auto dimension = channel_dimension(rewriter, heavy);
  if (!dimension) return false;
  const auto scale =
      per_channel(*rewriter.constant_of(factor), rewriter.shape(heavy.outputs[0]), *dimension);
  if (!scale || rewriter.type(product.outputs[0]) != rewriter.type(heavy.outputs[0])) return false;
  return rewriter.replace(product.outputs[0], scaled(rewriter, heavy, *scale));
}

bool fold_sum(Rewriter& rewriter, const Node& sum, const Node& heavy, ValueId addend) {
  const auto dimension = channel_dimension(rewriter, heavy);
  if (!dimension || heavy.op == "matmul") return false;
  const auto shift =
      per_channel(*rewriter.constant_of(addend), rewriter.shape(heavy.outputs[0]), *dimension);
  if (!shift || rewriter.type(sum.outputs[0]) != rewriter.type(heavy.outputs[0])) return false;
  std::vector<ValueId> inputs = heavy.inputs;
  inputs.resize(3, kNoValue);
  inputs[2] =
      changed_bias(rewriter, heavy, [&](double bias, std::size_t c) { return bias + (*shift)[c]; });
  return rewriter.replace(sum.outputs[0],
                          rewriter.add(heavy.op, inputs, heavy.attributes, heavy.name));
}

// mul(add(matmul, b), s): the product goes first.
bool fold_product_before_sum(Rewriter& rewriter, const Node& product, const Node& sum,
                             ValueId factor) {
  const auto operands = constant_operand(rewriter, sum);
  const Node* heavy = operands ? rewriter.maker(operands->other) : nullptr;
  if (heavy == nullptr || heavy->op != "matmul" || !rewriter.has_one_use(operands->other)) {
    return false;
  }
  const auto dimension = channel_dimension(rewriter, *heavy);
  if (!dimension) return false;
  const TensorType& output = rewriter.type(heavy->outputs[0]);
  const auto scale = per_channel(*rewriter.constant_of(factor), output.shape, *dimension);
  const auto shift =
      per_channel(*rewriter.constant_of(operands->constant), output.shape, *dimension);
  if (!scale || !shift || rewriter.type(product.outputs[0]) != output) return false;
  std::vector<double> bias = *shift;
  for (std::size_t c = 0; c < bias.size(); ++c) bias[c] *= (*scale)[c];
  const TensorType type{output.dtype, {static_cast<std::int64_t>(bias.size())}, {}};
  const ValueId addend = rewriter.add_constant(real_constant(type, bias), sum.name + ".bias");
  return rewriter.replace(
      product.outputs[0],
      rewriter.add("add", {scaled(rewriter, *heavy, *scale), addend}, sum.attributes, sum.name));
}

bool fold(Rewriter& rewriter, const Node& node) {
  if (node.op != "mul" && node.op != "add") return false;
  const auto operands = constant_operand(rewriter, node);
  if (!operands || !rewriter.has_one_use(operands->other)) return false;
  const Node* before = rewriter.maker(operands->other);
  if (before == nullptr) return false;
  if (node.op == "add") return fold_sum(rewriter, node, *before, operands->constant);
  if (before->op == "add") {
    return fold_product_before_sum(rewriter, node, *before, operands->constant);
  }
  return fold_product(rewriter, node, *before, operands->constant);
}

}  // namespace

Result<Graph> fold_scales(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) { return fold(rewriter, rewriter.node(n)); });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
