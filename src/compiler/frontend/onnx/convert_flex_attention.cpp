// Attention whose scores and probabilities pass through subgraphs of the model.
#include <fmt/format.h>

#include <cmath>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/import.h"

namespace attune::onnx {
namespace {

using Shape = std::vector<std::int64_t>;

// The subgraph in an attribute, if there is one, put behind the value.
Result<ValueId> modified(NodeContext& node, const char* attribute, ValueId value) {
  if (!node.has_attribute(attribute)) return value;
  ATTUNE_ASSIGN(const std::vector<ValueId> results, node.inline_body(attribute, {value}));
  if (results.size() != 1 || !(node.type(results[0]) == node.type(value))) {
    return invalid(fmt::format("{} must give back one tensor {}", attribute,
                               ops::to_string(node.type(value))));
  }
  return results[0];
}

Result<ir::DType> precision_of(NodeContext& node, ir::DType type) {
  const std::int64_t named = node.integer("softmax_precision", 0);
  if (named != 0) return element_type(static_cast<std::int32_t>(named));
  return type == ir::kF64 ? ir::kF64 : ir::kF32;
}

}  // namespace

Converted convert_flex_attention(NodeContext& node) {
  const Shape q = node.shape(node.input(0)), k = node.shape(node.input(1)),
              v = node.shape(node.input(2));
  const bool fits = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] &&
                    k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && k[1] > 0 &&
                    q[1] % k[1] == 0;
  if (!fits) return invalid("queries, keys and values do not fit together");
  const std::int64_t groups = k[1], each = q[1] / k[1];
  const ir::DType type = node.dtype(node.input(0));
  ATTUNE_ASSIGN(const ir::DType wide, precision_of(node, type));
  const double scale = node.real("scale", 1 / std::sqrt(static_cast<double>(q[3])));
  // Heads that share keys and values are rows of one product.
  ATTUNE_ASSIGN(ValueId queries, node.cast(node.input(0), wide));
  ATTUNE_ASSIGN(ValueId keys, node.cast(node.input(1), wide));
  ATTUNE_ASSIGN(const ValueId values, node.cast(node.input(2), wide));
  ATTUNE_ASSIGN(queries, node.reshape(queries, {q[0], groups, each * q[2], q[3]}));
  ATTUNE_ASSIGN(keys, node.add("transpose", {keys}, {{"perm", Shape{0, 1, 3, 2}}}));
  ATTUNE_ASSIGN(ValueId scores, node.add("matmul", {queries, keys}));
  ATTUNE_ASSIGN(scores, node.add("mul", {scores, node.scalar(wide, scale)}));
  ATTUNE_ASSIGN(scores, node.reshape(scores, {q[0], q[1], q[2], k[2]}));
  ATTUNE_ASSIGN(scores, modified(node, "score_mod", scores));
  ATTUNE_ASSIGN(ValueId weights, node.add("softmax", {scores}, {{"axis", std::int64_t{3}}}));
  ATTUNE_ASSIGN(weights, modified(node, "prob_mod", weights));
  ATTUNE_ASSIGN(weights, node.reshape(weights, {q[0], groups, each * q[2], k[2]}));
  ATTUNE_ASSIGN(ValueId y, node.add("matmul", {weights, values}));
  ATTUNE_ASSIGN(y, node.reshape(y, {q[0], q[1], q[2], v[3]}));
  return one(node.cast(y, type));
}

}  // namespace attune::onnx
