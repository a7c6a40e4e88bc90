// Softmax, layer and RMS normalisation that exporters write out with reductions:
//   exp(x - max(x)) / sum(exp(x - max(x)))                       -> softmax(x)
//   (x - mean(x)) / sqrt(mean((x - mean(x))^2) + e) * s + b      -> layer_norm(x, s, b)
//   x / sqrt(mean(x^2) + e) * s                                  -> rms_norm(x, s)
//   x * g + (b - mean(x) * g), g = s / sqrt(…)                   -> layer_norm(x, s, b)
// Squares are products here and constant operands stand on the right: see simplify_arithmetic.
#include <algorithm>
#include <numeric>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// A reduction of `id` over the axes that keeps them as dimensions of 1.
const Node* reduction(const Rewriter& rewriter, ValueId result, std::string_view op) {
  const Node* node = made_by(rewriter, result, op);
  return node != nullptr && integer_of(*node, "keepdims") != 0 ? node : nullptr;
}

// What `value` is divided by in a / b, a * (1 / b) or a * b^-0.5: the operand and the root's
// argument, for roots.
struct Quotient {
  ValueId dividend;
  ValueId divisor;
};

std::optional<ValueId> reciprocal_of(const Rewriter& rewriter, ValueId id) {
  if (const Node* node = made_by(rewriter, id, "reciprocal")) return node->inputs[0];
  const Node* node = made_by(rewriter, id, "div");
  if (node == nullptr || number_of(rewriter, node->inputs[0]) != 1.0) return std::nullopt;
  return node->inputs[1];
}

std::optional<Quotient> quotient_of(const Rewriter& rewriter, const Node& node) {
  if (node.op == "div") return Quotient{node.inputs[0], node.inputs[1]};
  if (node.op != "mul") return std::nullopt;
  for (const std::size_t i : {1, 0}) {
    if (const auto divisor = reciprocal_of(rewriter, node.inputs[i])) {
      return Quotient{node.inputs[1 - i], *divisor};
    }
  }
  return std::nullopt;
}

bool recognise_softmax(Rewriter& rewriter, const Node& node) {
  const auto quotient = quotient_of(rewriter, node);
  if (!quotient) return false;
  const Node* sum = reduction(rewriter, quotient->divisor, "reduce_sum");
  const Node* power = made_by(rewriter, quotient->dividend, "exp");
  if (sum == nullptr || power == nullptr || sum->inputs[0] != quotient->dividend) return false;
  const Shape& axes = integers_of(*sum, "axes");
  if (axes.size() != 1) return false;
  ValueId x = power->inputs[0];
  if (const Node* shifted = made_by(rewriter, x, "sub")) {  // softmax subtracts it again
    const Node* greatest = reduction(rewriter, shifted->inputs[1], "reduce_max");
    if (greatest != nullptr && greatest->inputs[0] == shifted->inputs[0] &&
        integers_of(*greatest, "axes") == axes) {
      x = shifted->inputs[0];
    }
  }
  if (rewriter.type(x) != rewriter.type(node.outputs[0])) return false;
  return rewriter.replace(node.outputs[0],
                          rewriter.add("softmax", {x}, {{"axis", axes[0]}}, node.name));
}

bool recognise_log_softmax(Rewriter& rewriter, const Node& node) {
  if (node.op != "log") return false;
  const Node* softmax = made_only_by(rewriter, node.inputs[0], "softmax");
  if (softmax == nullptr || softmax->attributes.count("masked") != 0) return false;
  return rewriter.replace(node.outputs[0], rewriter.add("log_softmax", softmax->inputs,
                                                        softmax->attributes, node.name));
}

// sqrt(mean(d * d) + epsilon) over the last axes.
struct Deviation {
  ValueId distance;
  std::int64_t axis;
  double epsilon;
};

bool are_last(const Shape& axes, int rank) {
  Shape sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  Shape last(sorted.size());
  std::iota(last.begin(), last.end(), rank - static_cast<std::int64_t>(sorted.size()));
  return !sorted.empty() && sorted == last;
}

// From mean(d * d) + epsilon.
std::optional<Deviation> deviation_of(const Rewriter& rewriter, ValueId id) {
  const Node* shifted = made_by(rewriter, id, "add");
  if (shifted == nullptr) return std::nullopt;
  const auto epsilon = number_of(rewriter, shifted->inputs[1]);
  const Node* mean = reduction(rewriter, shifted->inputs[0], "reduce_mean");
  if (!epsilon || mean == nullptr) return std::nullopt;
  const Node* square = made_by(rewriter, mean->inputs[0], "mul");
  if (square == nullptr || square->inputs[0] != square->inputs[1]) return std::nullopt;
  const Shape& axes = integers_of(*mean, "axes");
  const int rank = rewriter.type(square->inputs[0]).rank();
  if (!are_last(axes, rank)) return std::nullopt;
  return Deviation{square->inputs[0], rank - static_cast<std::int64_t>(axes.size()), *epsilon};
}

std::optional<Deviation> root_deviation(const Rewriter& rewriter, ValueId id) {
  const Node* root = made_by(rewriter, id, "sqrt");
  return root == nullptr ? std::nullopt : deviation_of(rewriter, root->inputs[0]);
}

// From 1 / sqrt(mean(d * d) + epsilon).
std::optional<Deviation> inverse_deviation(const Rewriter& rewriter, ValueId id) {
  if (const auto root = reciprocal_of(rewriter, id)) return root_deviation(rewriter, *root);
  const Node* power = made_by(rewriter, id, "pow");
  if (power == nullptr || number_of(rewriter, power->inputs[1]) != -0.5) return std::nullopt;
  return deviation_of(rewriter, power->inputs[0]);
}

// The x of x - mean(x), with the mean over the axes from `axis` on.
std::optional<ValueId> centred(const Rewriter& rewriter, ValueId distance, std::int64_t axis) {
  const Node* difference = made_by(rewriter, distance, "sub");
  if (difference == nullptr) return std::nullopt;
  const Node* mean = reduction(rewriter, difference->inputs[1], "reduce_mean");
  const int rank = rewriter.type(distance).rank();
  if (mean == nullptr || mean->inputs[0] != difference->inputs[0] ||
      !are_last(integers_of(*mean, "axes"), rank) ||
      rank - static_cast<std::int64_t>(integers_of(*mean, "axes").size()) != axis) {
    return std::nullopt;
  }
  return mean->inputs[0];
}

ValueId add_norm(Rewriter& rewriter, const Deviation& deviation, std::string_view name) {
  const auto x = centred(rewriter, deviation.distance, deviation.axis);
  return rewriter.add(x ? "layer_norm" : "rms_norm", {x ? *x : deviation.distance},
                      {{"axis", deviation.axis}, {"epsilon", deviation.epsilon}}, name);
}

bool recognise_norm(Rewriter& rewriter, const Node& node) {
  std::optional<Deviation> deviation;
  ValueId distance = kNoValue;
  if (node.op == "div") {
    deviation = root_deviation(rewriter, node.inputs[1]);
    distance = node.inputs[0];
  } else if (node.op == "mul") {
    for (const std::size_t i : {1, 0}) {
      if (deviation) break;
      deviation = inverse_deviation(rewriter, node.inputs[i]);
      distance = node.inputs[1 - i];
    }
  }
  if (!deviation || deviation->distance != distance) return false;
  return rewriter.replace(node.outputs[0], add_norm(rewriter, *deviation, node.name));
}

// x * g + (b - mean * g) with g = s / deviation; the terms of the sum in either order.
bool recognise_shifted_norm(Rewriter& rewriter, const Node& node) {
  if (node.op != "add") return false;
  for (const std::size_t i : {0, 1}) {
    const Node* product = made_by(rewriter, node.inputs[i], "mul");
    const Node* rest = made_by(rewriter, node.inputs[1 - i], "sub");
    const Node* shift = rest == nullptr ? nullptr : made_by(rewriter, rest->inputs[1], "mul");
    if (product == nullptr || shift == nullptr) continue;
    for (const std::size_t j : {0, 1}) {
      const ValueId x = product->inputs[j], factor = product->inputs[1 - j];
      const auto mean = other_operand(*shift, factor);
      const Node* scaled = made_by(rewriter, factor, "mul");
      if (!mean || scaled == nullptr || rewriter.constant_of(rest->inputs[0]) == nullptr ||
          rewriter.constant_of(scaled->inputs[1]) == nullptr) {
        continue;
      }
      const auto deviation = inverse_deviation(rewriter, scaled->inputs[0]);
      if (!deviation || centred(rewriter, deviation->distance, deviation->axis) != x) continue;
      const Node* difference = rewriter.maker(deviation->distance);
      if (difference->inputs[1] != *mean) continue;
      return rewriter.replace(
          node.outputs[0],
          rewriter.add("layer_norm", {x, scaled->inputs[1], rest->inputs[0]},
                       {{"axis", deviation->axis}, {"epsilon", deviation->epsilon}}, node.name));
    }
  }
  return false;
}

// A constant behind a norm as its scale or bias: mul(norm(x), s) and add(norm(x, s), b).
bool take_parameter(Rewriter& rewriter, const Node& node) {
  if (node.op != "mul" && node.op != "add") return false;
  const auto operands = constant_operand(rewriter, node);
  if (!operands || !rewriter.has_one_use(operands->other)) return false;
  const Node* norm = rewriter.maker(operands->other);
  if (norm == nullptr || (norm->op != "layer_norm" && norm->op != "rms_norm")) return false;
  const std::size_t place = node.op == "mul" ? 1 : 2;
  std::vector<ValueId> inputs = norm->inputs;
  inputs.resize(3, kNoValue);
  const TensorType& type = rewriter.type(operands->other);
  const std::int64_t normalised = type.rank() - integer_of(*norm, "axis");
  if (inputs[place] != kNoValue || inputs[2] != kNoValue ||
      (norm->op == "rms_norm" && place == 2) ||
      rewriter.type(operands->constant).rank() > normalised ||
      rewriter.type(node.outputs[0]) != type) {
    return false;
  }
  inputs[place] = operands->constant;
  if (norm->op == "rms_norm") inputs.resize(2);
  return rewriter.replace(node.outputs[0],
                          rewriter.add(norm->op, std::move(inputs), norm->attributes, norm->name));
}

}  // namespace

Result<Graph> recognise_rows(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) {
    const Node& node = rewriter.node(n);
    if (node.outputs.size() != 1 || !rewriter.type(node.outputs[0]).dtype.is_float()) return false;
    return recognise_softmax(rewriter, node) || recognise_log_softmax(rewriter, node) ||
           recognise_shifted_norm(rewriter, node) || recognise_norm(rewriter, node) ||
           take_parameter(rewriter, node);
  });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
