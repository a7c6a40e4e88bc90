// Losses, as the operators they are made of.
#include <fmt/format.h>

#include <numeric>

#include "compiler/frontend/onnx/converters.h"

namespace attune::onnx {
namespace {

using Shape = std::vector<std::int64_t>;

Attributes over_all(int rank) {
  Shape axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return {{"axes", axes}, {"keepdims", std::int64_t{0}}};
}

// -weight[t] * scores[n, t, …] for the class t of each place; ignored places count nothing.
Result<ValueId> likelihood_loss(NodeContext& node, ValueId scores) {
  const ValueId target = node.input(1);
  const ir::DType type = node.dtype(scores), classes = node.dtype(target);
  const Shape shape = node.shape(target);
  const std::string reduction = node.word("reduction", "mean");
  if (node.rank(scores) < 2 || node.rank(target) + 1 != node.rank(scores) || !classes.is_int()) {
    return invalid(fmt::format("scores {} and targets {} do not fit together",
                               ops::to_string(node.type(scores)),
                               ops::to_string(node.type(target))));
  }
  ValueId place = target, ignored = kNoValue;
  if (node.has_attribute("ignore_index")) {
    const auto index = static_cast<double>(node.integer("ignore_index", 0));
    ignored = node.make("equal", {target, node.scalar(classes, index)});
    place = node.make("where", {ignored, node.scalar(classes, 0), target});
  }
  Shape column = shape;
  column.insert(column.begin() + 1, 1);
  const ValueId chosen =
      node.make("gather_elements", {scores, node.make("reshape", {place}, {{"shape", column}})},
                {{"axis", std::int64_t{1}}});
  ValueId loss = node.make("neg", {node.make("reshape", {chosen}, {{"shape", shape}})});
  ValueId weights = node.scalar(type, 1);
  if (node.has(2))
    weights = node.make("gather", {node.input(2), place}, {{"axis", std::int64_t{0}}});
  if (ignored != kNoValue) weights = node.make("where", {ignored, node.scalar(type, 0), weights});
  loss = node.make("mul", {loss, weights});
  if (reduction == "none" || node.failed()) return loss;
  const Attributes all = over_all(node.rank(loss));
  const ValueId total = node.make("reduce_sum", {loss}, all);
  if (reduction == "sum") return total;
  if (reduction != "mean") return invalid(fmt::format("reduction '{}' is not known", reduction));
  // One weight per place, also where all places share one.
  const ValueId spread = node.make("expand", {weights}, {{"shape", shape}});
  return node.make("div", {total, node.make("reduce_sum", {spread}, all)});
}

}  // namespace

Converted convert_negative_log_likelihood_loss(NodeContext& node) {
  return one(likelihood_loss(node, node.input(0)));
}

Converted convert_softmax_cross_entropy_loss(NodeContext& node) {
  ATTUNE_ASSIGN(const ValueId scores,
                node.add("log_softmax", {node.input(0)}, {{"axis", std::int64_t{1}}}));
  ATTUNE_ASSIGN(const ValueId loss, likelihood_loss(node, scores));
  return std::vector{loss, scores};
}

}  // namespace attune::onnx
