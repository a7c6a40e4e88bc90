#include "compiler/graph/zeros.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/graph/passes/constants.h"

namespace attune::graph {
namespace {

using ops::OpKind;

// Added to noise, or put in its place, a constant of this size hides it.
constexpr double kHides = 1e-3;

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

// From the last node to the first: what a consumer asks of a value, its producer asks of its
// inputs.
class ZeroSearch {
 public:
  explicit ZeroSearch(const Graph& graph) : graph_(graph), care_(graph.values.size(), 0) {
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) visit(*node);
  }

  std::vector<bool> found() const {
    std::vector<bool> result;
    for (const double care : care_) result.push_back(care > 0);
    return result;
  }

 private:
  void visit(const Node& node) {
    begin(node);
    double care = 0;
    for (const ValueId output : node.outputs) care = std::max(care, care_of(output));
    if (care > 0) go_on(node, care);
  }

  // Where noise becomes large.
  void begin(const Node& node) {
    const auto& in = node.inputs;
    if (is_one_of(node.op, {"div", "mod"})) mark(in[1], kHides);
    if (is_one_of(node.op, {"reciprocal", "log", "sign", "floor", "ceil"})) mark(in[0], kHides);
    if (node.op == "pow" && least(in[1]).value_or(1) < 0) mark(in[0], kHides);
    if (node.op == "cast" && graph_.value(node.outputs[0]).type.dtype == ir::kBool) {
      mark(in[0], kHides);
    }
    if (is_one_of(node.op, {"equal", "less", "less_or_equal", "greater", "greater_or_equal"})) {
      for (const std::size_t i : {0u, 1u}) {
        if (least(in[1 - i]).value_or(1) == 0) mark(in[i], kHides);
      }
    }
  }

  // Through what zeros stay zeros.
  void go_on(const Node& node, double care) {
    const auto& in = node.inputs;
    const OpKind kind = operator_of(node).kind;
    if (kind == OpKind::View || kind == OpKind::Injective) {
      for (const ValueId input : in) mark(input, care);
    } else if (is_one_of(node.op, {"add", "sub"})) {
      through_sum(in, care);
    } else if (is_one_of(node.op, {"max", "min", "clip"})) {
      through_bound(node, care);
    } else if (node.op == "mul") {
      // In squares noise, and what hides it, is squared.
      for (const ValueId input : in) mark(input, in[0] == in[1] ? std::sqrt(care) : care);
    } else if (node.op == "reduce_sum_square") {
      mark(in[0], std::sqrt(care));
    } else if (node.op == "sqrt" || (node.op == "pow" && least(in[1]).value_or(0) == 0.5)) {
      mark(in[0], care * care);
    } else if (node.op == "where") {
      mark(in[1], care);
      mark(in[2], care);
    } else if (node.op.starts_with("reduce_") || node.op.ends_with("pool") ||
               keeps_zeros(node.op)) {
      mark(in[0], care);
    }
  }

  static bool keeps_zeros(std::string_view op) {
    constexpr std::string_view kNames[] = {"abs",
                                           "neg",
                                           "relu",
                                           "leaky_relu",
                                           "prelu",
                                           "cast",
                                           "div",
                                           "tanh",
                                           "sin",
                                           "tan",
                                           "asin",
                                           "atan",
                                           "sinh",
                                           "asinh",
                                           "erf",
                                           "round",
                                           "gelu",
                                           "silu",
                                           "softsign",
                                           "elu",
                                           "celu",
                                           "selu",
                                           "mish",
                                           "pow",
                                           "swish",
                                           "atanh",
                                           "shrink",
                                           "hard_swish",
                                           "thresholded_relu"};
    return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
  }

  // A second tensor of data hides the noise of the first, and so does a constant that is nowhere
  // smaller than what is asked for; an upper bound does not.
  void through_sum(const std::vector<ValueId>& in, double care) {
    if (const auto first = least(in[0]); first && std::abs(*first) < care) mark(in[1], care);
    if (const auto second = least(in[1]); second && std::abs(*second) < care) mark(in[0], care);
  }
  void through_bound(const Node& node, double care) {
    const auto& in = node.inputs;
    const bool is_upper = node.op == "min";
    const std::size_t bounds = node.op == "clip" ? 2 : in.size();  // the third is an upper one
    for (std::size_t i = 0; i < std::min(bounds, in.size()); ++i) {
      if (!is_upper && least(in[i]).value_or(0) >= care) return;
    }
    for (const ValueId input : in) mark(input, care);
  }

  // The smallest magnitude of a constant with its sign, if the value is one.
  std::optional<double> least(ValueId id) const {
    if (id == kNoValue || graph_.value(id).constant == nullptr) return std::nullopt;
    const std::vector<double> all = reals(*graph_.value(id).constant);
    const auto closer = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto smallest = std::min_element(all.begin(), all.end(), closer);
    return smallest == all.end() ? std::nullopt : std::optional(*smallest);
  }

  void mark(ValueId id, double care) {
    if (id == kNoValue || !graph_.value(id).type.dtype.is_float()) return;
    double& known = care_[static_cast<std::size_t>(id)];
    known = std::max(known, care);
  }
  double care_of(ValueId id) const {
    return id == kNoValue ? 0 : care_[static_cast<std::size_t>(id)];
  }

  const Graph& graph_;
  std::vector<double> care_;  // per value: how large a constant hides its noise; 0: nobody asks
};

}  // namespace

std::vector<bool> values_with_exact_zeros(const Graph& graph) { return ZeroSearch(graph).found(); }

bool forget_mixing(ops::Operator& op) {
  return std::erase_if(op.alternatives, [](const auto& other) { return other.mixes; }) > 0;
}

}  // namespace attune::graph
