// A sum of products of two operands by labels (einsum) as a matrix product: labels are those of
// the batch (both operands and the result), rows (the first operand and the result), columns (the
// second and the result) and the sum (both operands only). Operands are brought into the order
// batch, rows, sum and batch, sum, columns; simplify_views removes what that does not change.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

struct Labels {
  std::string batch, rows, columns, sum;
};

struct Equation {
  std::string left, right, result;
};

std::optional<Equation> equation_of(const Node& node) {
  const auto& text = std::get<std::string>(node.attributes.at("equation"));
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (node.inputs.size() != 2 || comma == std::string::npos || arrow == std::string::npos) {
    return std::nullopt;
  }
  return Equation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                  text.substr(arrow + 2)};
}

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

bool repeats(std::string labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

std::optional<Labels> labels_of(const Equation& equation) {
  if (repeats(equation.left) || repeats(equation.right)) return std::nullopt;
  Labels labels;
  for (const char label : equation.result) {
    const bool left = has(equation.left, label), right = has(equation.right, label);
    (left && right ? labels.batch : left ? labels.rows : labels.columns) += label;
  }
  for (const char label : equation.left) {
    if (has(equation.result, label)) continue;
    if (!has(equation.right, label)) return std::nullopt;
    labels.sum += label;
  }
  const bool all_known = std::all_of(equation.right.begin(), equation.right.end(), [&](char c) {
    return has(equation.result, c) || has(equation.left, c);
  });
  return all_known ? std::optional(labels) : std::nullopt;
}

using Extents = std::map<char, std::int64_t>;

// Nothing where an extent of 1 meets another.
std::optional<Extents> extents_of(const Rewriter& rewriter, const Node& node,
                                  const Equation& equation) {
  Extents extents;
  for (const std::size_t i : {0, 1}) {
    const std::string& labels = i == 0 ? equation.left : equation.right;
    const Shape& shape = rewriter.shape(node.inputs[i]);
    if (labels.size() != shape.size()) return std::nullopt;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (extents.emplace(labels[d], shape[d]).first->second != shape[d]) return std::nullopt;
    }
  }
  return extents;
}

Shape order(const std::string& from, const std::string& to) {
  Shape perm;
  for (const char label : to) perm.push_back(static_cast<std::int64_t>(from.find(label)));
  return perm;
}

std::int64_t product(const std::string& labels, const Extents& extents) {
  std::int64_t count = 1;
  for (const char label : labels) count *= extents.at(label);
  return count;
}

// The operand in the order batch, outer, inner, as a stack of matrices.
ValueId matrices(Rewriter& rewriter, ValueId id, const std::string& labels,
                 const std::array<std::string, 3>& parts, const Extents& extents) {
  const std::string& name = rewriter.value(id).name;
  const ValueId ordered = rewriter.add(
      "transpose", {id}, {{"perm", order(labels, parts[0] + parts[1] + parts[2])}}, name);
  Shape shape;
  for (const char label : parts[0]) shape.push_back(extents.at(label));
  shape.push_back(product(parts[1], extents));
  shape.push_back(product(parts[2], extents));
  return rewriter.add("reshape", {ordered}, {{"shape", shape}}, name);
}

bool expand(Rewriter& rewriter, const Node& node) {
  if (node.op != "einsum") return false;
  const auto equation = equation_of(node);
  const auto labels = equation ? labels_of(*equation) : std::nullopt;
  const auto extents = labels ? extents_of(rewriter, node, *equation) : std::nullopt;
  if (!extents || !rewriter.type(node.outputs[0]).is_static()) return false;
  const ValueId left = matrices(rewriter, node.inputs[0], equation->left,
                                {labels->batch, labels->rows, labels->sum}, *extents);
  const ValueId right = matrices(rewriter, node.inputs[1], equation->right,
                                 {labels->batch, labels->sum, labels->columns}, *extents);
  const ValueId product = rewriter.add("matmul", {left, right}, {}, node.name);
  if (rewriter.type(product).dtype != rewriter.type(node.outputs[0]).dtype) return false;
  const std::string made = labels->batch + labels->rows + labels->columns;
  Shape shape;
  for (const char label : made) shape.push_back(extents->at(label));
  const ValueId spread = rewriter.add("reshape", {product}, {{"shape", shape}}, node.name);
  return rewriter.replace(
      node.outputs[0],
      rewriter.add("transpose", {spread}, {{"perm", order(made, equation->result)}}, node.name));
}

}  // namespace

Result<Graph> expand_einsum(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (rewriter.alive(n)) expand(rewriter, rewriter.node(n));
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
