// Operators that only move elements: those that do nothing go, two in a row become one, and a
// transpose that only moves dimensions of extent 1 becomes a reshape, which is free.
#include <algorithm>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

bool does_nothing(const Rewriter& rewriter, const Node& node) {
  if (node.outputs.size() != 1 || node.inputs.empty() || node.inputs[0] == kNoValue) return false;
  const ValueId x = node.inputs[0];
  if (rewriter.type(x) != rewriter.type(node.outputs[0])) return false;
  const auto rule = operator_of(node).traits.does_nothing;
  return rule != nullptr && rule(rewriter.call(node));
}

// Whether the dimensions that have more than one element stay in order.
bool keeps_order(const Shape& perm, const Shape& input) {
  std::int64_t last = -1;
  for (const std::int64_t axis : perm) {
    if (input[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool simplify_reshape(Rewriter& rewriter, const Node& node) {
  if (node.op != "reshape") return false;
  const Node* inner = made_by(rewriter, node.inputs[0], "reshape");
  if (inner == nullptr) return false;
  return rewriter.replace(node.outputs[0],
                          rewriter.add("reshape", {inner->inputs[0]}, node.attributes, node.name));
}

bool simplify_transpose(Rewriter& rewriter, const Node& node) {
  if (node.op != "transpose") return false;
  const Shape& perm = integers_of(node, "perm");
  const ValueId x = node.inputs[0];
  if (rewriter.type(x).is_static() && keeps_order(perm, rewriter.shape(x))) {
    const ValueId view =
        rewriter.add("reshape", {x}, {{"shape", rewriter.shape(node.outputs[0])}}, node.name);
    return rewriter.replace(node.outputs[0], view);
  }
  const Node* inner = made_by(rewriter, x, "transpose");
  if (inner == nullptr) return false;
  Shape joined;
  for (const std::int64_t axis : perm) {
    joined.push_back(integers_of(*inner, "perm")[static_cast<std::size_t>(axis)]);
  }
  return rewriter.replace(node.outputs[0], rewriter.add("transpose", {inner->inputs[0]},
                                                        {{"perm", joined}}, node.name));
}

// slice(slice(x)) -> slice(x)
bool join_slices(Rewriter& rewriter, const Node& node) {
  if (node.op != "slice") return false;
  const Node* inner = made_by(rewriter, node.inputs[0], "slice");
  if (inner == nullptr) return false;
  Attributes attributes = node.attributes;
  Shape starts = integers_of(node, "starts"), steps = integers_of(node, "steps");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t step = integers_of(*inner, "steps")[i];
    starts[i] = integers_of(*inner, "starts")[i] + step * starts[i];
    steps[i] *= step;
  }
  attributes["starts"] = starts;
  attributes["steps"] = steps;
  return rewriter.replace(
      node.outputs[0], rewriter.add("slice", {inner->inputs[0]}, std::move(attributes), node.name));
}

// A slice of a concatenation that lies within one part is a slice of that part.
bool slice_part(Rewriter& rewriter, const Node& node) {
  if (node.op != "slice") return false;
  const Node* parts = made_by(rewriter, node.inputs[0], "concat");
  if (parts == nullptr || rewriter.type(node.outputs[0]).elements() == 0) return false;
  const auto axis = static_cast<std::size_t>(integer_of(*parts, "axis"));
  Shape starts = integers_of(node, "starts");
  const std::int64_t first = starts[axis];
  const std::int64_t last =
      first + integers_of(node, "steps")[axis] * (integers_of(node, "shape")[axis] - 1);
  std::int64_t begin = 0;
  for (const ValueId part : parts->inputs) {
    const std::int64_t end = begin + rewriter.shape(part)[axis];
    if (std::min(first, last) >= begin && std::max(first, last) < end) {
      Attributes attributes = node.attributes;
      starts[axis] -= begin;
      attributes["starts"] = starts;
      return rewriter.replace(node.outputs[0],
                              rewriter.add("slice", {part}, std::move(attributes), node.name));
    }
    begin = end;
  }
  return false;
}

// Nested concatenations along one axis become one; empty parts go.
bool flatten_concat(Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (node.op != "concat") return false;
  std::vector<ValueId> parts;
  for (const ValueId id : node.inputs) {
    const Node* inner = made_only_by(rewriter, id, "concat");
    const bool repeated = std::count(node.inputs.begin(), node.inputs.end(), id) > 1;
    if (inner != nullptr && !repeated && inner->attributes == node.attributes) {
      parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
    } else if (rewriter.type(id).elements() > 0) {
      parts.push_back(id);
    }
  }
  if (parts.empty() || parts == node.inputs) return false;
  rewriter.update(n, std::move(parts), node.attributes);
  return true;
}

// A matrix with leading dimensions of 1 is a matrix.
bool drop_leading_ones(Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (node.op != "matmul") return false;
  const TensorType& left = rewriter.type(node.inputs[0]);
  const TensorType& right = rewriter.type(node.inputs[1]);
  const Shape& shape = right.shape;
  if (shape.size() < 3 || shape.size() > left.shape.size() || !right.is_static() ||
      !std::all_of(shape.begin(), shape.end() - 2, [](auto extent) { return extent == 1; })) {
    return false;
  }
  const ValueId matrix =
      rewriter.add("reshape", {node.inputs[1]}, {{"shape", Shape(shape.end() - 2, shape.end())}},
                   rewriter.value(node.inputs[1]).name);
  rewriter.update(n, {node.inputs[0], matrix}, node.attributes);
  return true;
}

// Elementwise operators broadcast by themselves.
bool read_before_expand(Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (node.inputs.size() < 2 || operator_of(node).kind != ops::OpKind::Elementwise) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Node* expand = made_by(rewriter, node.inputs[i], "expand");
    if (expand == nullptr) continue;
    Node changed = node;
    changed.inputs[i] = expand->inputs[0];
    const auto types = operator_of(node).infer(rewriter.call(changed));
    if (!types.ok() || types->front() != rewriter.type(node.outputs[0])) continue;
    rewriter.update(n, std::move(changed.inputs), node.attributes);
    return true;
  }
  return false;
}

}  // namespace

Result<Graph> simplify_views(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) {
    const Node& node = rewriter.node(n);
    if (does_nothing(rewriter, node)) return rewriter.replace(node.outputs[0], node.inputs[0]);
    return simplify_reshape(rewriter, node) || simplify_transpose(rewriter, node) ||
           join_slices(rewriter, node) || slice_part(rewriter, node) ||
           flatten_concat(rewriter, n) || read_before_expand(rewriter, n) ||
           drop_leading_ones(rewriter, n);
  });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
