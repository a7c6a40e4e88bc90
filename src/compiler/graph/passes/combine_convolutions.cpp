// Convolutions of one image with equal windows, as the branches of an inception block begin with,
// become one with the filters side by side; slices of its result take their places. Only where the
// slices are free: of one image, at whole blocks of channels on any target, and not read by a
// concatenation, which wants its operands computed in place.
#include <algorithm>
#include <map>

#include "compiler/graph/constants.h"
#include "compiler/graph/layouts/layouts.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

struct Branch {
  int conv;
  int activation;  // the one elementwise node that reads the convolution, or -1
  ValueId result;
};

// An elementwise node of one value and numbers.
bool is_activation(const Rewriter& rewriter, const Node& node) {
  if (operator_of(node).kind != ops::OpKind::Elementwise || node.outputs.size() != 1) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || number_of(rewriter, id).has_value();
  });
}

bool is_concatenated(const Rewriter& rewriter, ValueId id) {
  const std::vector<int>& users = rewriter.users(id);
  return std::any_of(users.begin(), users.end(),
                     [&](int user) { return rewriter.node(user).op == "concat"; });
}

std::optional<Branch> branch_of(const Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (node.op != "conv" || integer_of(node, "group") != 1) return std::nullopt;
  const ValueId output = node.outputs[0];
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  const Shape& shape = rewriter.shape(output);
  if (shape[0] != 1 || shape[1] % kWidestBlock != 0 || rewriter.is_output(output) ||
      rewriter.constant_of(node.inputs[1]) == nullptr ||
      (has_bias && rewriter.constant_of(node.inputs[2]) == nullptr)) {
    return std::nullopt;
  }
  Branch branch{n, -1, output};
  if (rewriter.has_one_use(output)) {
    const int reader = rewriter.users(output).front();
    const Node& next = rewriter.node(reader);
    if (is_activation(rewriter, next) && next.inputs[0] == output &&
        rewriter.type(next.outputs[0]) == rewriter.type(output)) {
      branch.activation = reader;
      branch.result = next.outputs[0];
    }
  }
  if (rewriter.is_output(branch.result) || is_concatenated(rewriter, branch.result)) {
    return std::nullopt;
  }
  return branch;
}

// What convolutions of one group have in common, besides the input.
bool are_alike(const Rewriter& rewriter, const Branch& a, const Branch& b) {
  const Node& first = rewriter.node(a.conv);
  const Node& second = rewriter.node(b.conv);
  if (first.attributes != second.attributes || (a.activation < 0) != (b.activation < 0) ||
      rewriter.type(first.inputs[1]).dtype != rewriter.type(second.inputs[1]).dtype) {
    return false;
  }
  if (a.activation < 0) return true;
  const Node& left = rewriter.node(a.activation);
  const Node& right = rewriter.node(b.activation);
  const auto same = [&](ValueId x, ValueId y) {
    return (x == kNoValue) == (y == kNoValue) &&
           (x == kNoValue || number_of(rewriter, x) == number_of(rewriter, y));
  };
  return left.op == right.op && left.attributes == right.attributes &&
         std::equal(left.inputs.begin() + 1, left.inputs.end(), right.inputs.begin() + 1,
                    right.inputs.end(), same);
}

void combine(Rewriter& rewriter, const std::vector<Branch>& branches) {
  const Node& first = rewriter.node(branches.front().conv);
  std::vector<ConstantPtr> weights, biases;
  for (const Branch& branch : branches) {
    const Node& conv = rewriter.node(branch.conv);
    weights.push_back(rewriter.constant_of(conv.inputs[1]));
    ConstantPtr bias = conv.inputs.size() > 2 ? rewriter.constant_of(conv.inputs[2]) : nullptr;
    if (bias == nullptr) {
      const TensorType& type = weights.back()->type;
      bias = ops::filled_constant({type.dtype, {type.shape[0]}, {}}, 0);
    }
    biases.push_back(std::move(bias));
  }
  const ValueId weight =
      rewriter.add_constant(concat_constants(weights, 0), first.name + ".weight");
  const ValueId bias = rewriter.add_constant(concat_constants(biases, 0), first.name + ".bias");
  ValueId all = rewriter.add("conv", {first.inputs[0], weight, bias}, first.attributes, first.name);
  if (branches.front().activation >= 0) {
    const Node& activation = rewriter.node(branches.front().activation);
    std::vector<ValueId> inputs = activation.inputs;
    inputs[0] = all;
    all = rewriter.add(activation.op, std::move(inputs), activation.attributes, activation.name);
  }
  std::int64_t start = 0;
  for (const Branch& branch : branches) {
    const Shape shape = rewriter.shape(branch.result);
    Shape starts(shape.size(), 0), steps(shape.size(), 1);
    starts[1] = start;
    start += shape[1];
    const ValueId part = rewriter.add(
        "slice", {all}, {{"starts", starts}, {"steps", steps}, {"shape", shape}}, first.name);
    rewriter.replace(branch.result, part);
  }
}

}  // namespace

Result<Graph> combine_convolutions(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  std::map<ValueId, std::vector<std::vector<Branch>>> groups;  // by input
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (!rewriter.alive(n)) continue;
    const auto branch = branch_of(rewriter, n);
    if (!branch) continue;
    auto& alike = groups[rewriter.node(n).inputs[0]];
    const auto group = std::find_if(alike.begin(), alike.end(), [&](const auto& members) {
      return are_alike(rewriter, members.front(), *branch);
    });
    if (group == alike.end()) {
      alike.push_back({*branch});
    } else {
      group->push_back(*branch);
    }
  }
  for (const auto& [input, alike] : groups) {
    for (const std::vector<Branch>& branches : alike) {
      if (branches.size() > 1) combine(rewriter, branches);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
