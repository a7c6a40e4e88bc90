// Transposes and reshapes move behind arithmetic, so that the arithmetic stands right behind the
// convolution or matrix product that it belongs to, and transposes of one layout to another and
// back meet and cancel:
//   add(transpose(x), transpose(y)) -> transpose(add(x, y))
//   relu(reshape(x)) -> reshape(relu(x))
//   add(transpose(x), c) -> transpose(add(x, c'))
// Pads, slices and concatenations are passed in the same way by transposes, and so are reshapes
// that add or remove dimensions of 1; these reshapes in turn pass pads.
#include <algorithm>

#include "compiler/graph/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// The transpose or reshape that all operands but constants have in common.
struct Movement {
  const Node* node = nullptr;
  Shape source;  // the shape before it
};

bool is_movement(const Node& node) { return node.op == "transpose" || node.op == "reshape"; }

std::optional<Movement> movement_of(const Rewriter& rewriter, const Node& node) {
  Movement found;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue || rewriter.constant_of(id) != nullptr) continue;
    const Node* moved = rewriter.maker(id);
    if (moved == nullptr || !is_movement(*moved) || !rewriter.has_one_use(id) ||
        !rewriter.type(id).is_static()) {
      return std::nullopt;
    }
    const Shape& source = rewriter.shape(moved->inputs[0]);
    if (found.node == nullptr) {
      found = {moved, source};
    } else if (moved->op != found.node->op || moved->attributes != found.node->attributes ||
               source != found.source) {
      return std::nullopt;
    }
  }
  if (found.node == nullptr) return std::nullopt;
  return found;
}

Shape inverse(const Shape& perm) {
  Shape result(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    result[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  }
  return result;
}

// The numbers of dimensions of the output as numbers for those of the input.
Shape before_transpose(const Shape& numbers, const Shape& perm) {
  Shape result(numbers.size());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    result[static_cast<std::size_t>(perm[i])] = numbers[i];
  }
  return result;
}

// The operand that broadcasts to `source` as `constant` broadcasts to the moved shape.
ConstantPtr unmoved(const ConstantPtr& constant, const Movement& movement, const Shape& shape) {
  if (constant->type.elements() == 1) return reshape_constant(constant, {});
  Shape extents = constant->type.shape;
  if (extents.size() > shape.size()) return nullptr;
  extents.insert(extents.begin(), shape.size() - extents.size(), 1);
  if (movement.node->op == "transpose") {
    return transpose_constant(*reshape_constant(constant, extents),
                              inverse(integers_of(*movement.node, "perm")));
  }
  // A reshape that only adds or removes dimensions of 1 is passed by everything.
  if (const auto places = same_but_ones(movement.source, shape)) {
    Shape moved(movement.source.size(), 1);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if ((*places)[d] >= 0) moved[static_cast<std::size_t>((*places)[d])] = extents[d];
    }
    return reshape_constant(constant, moved);
  }
  // Others are passed by what only varies along last dimensions that stay as they are.
  std::size_t same = 0;
  while (same < shape.size() && same < movement.source.size() &&
         shape[shape.size() - 1 - same] == movement.source[movement.source.size() - 1 - same]) {
    ++same;
  }
  const auto kept = extents.end() - static_cast<std::ptrdiff_t>(same);
  if (std::any_of(extents.begin(), kept, [](std::int64_t extent) { return extent != 1; })) {
    return nullptr;
  }
  return reshape_constant(constant, Shape(kept, extents.end()));
}

bool pass_arithmetic(Rewriter& rewriter, const Node& node) {
  if (node.outputs.size() != 1 || operator_of(node).kind != ops::OpKind::Elementwise ||
      has_attribute(node, "axis")) {
    return false;
  }
  const auto movement = movement_of(rewriter, node);
  if (!movement) return false;
  const Shape& shape = rewriter.shape(node.outputs[0]);
  if (shape != rewriter.shape(movement->node->outputs[0])) return false;
  std::vector<ConstantPtr> constants;
  for (const ValueId id : node.inputs) {
    const ConstantPtr constant = rewriter.constant_of(id);
    constants.push_back(constant == nullptr ? nullptr : unmoved(constant, *movement, shape));
    if (constant != nullptr && constants.back() == nullptr) return false;
  }
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue) {
      inputs.push_back(kNoValue);
    } else if (constants[i] != nullptr) {
      inputs.push_back(rewriter.add_constant(constants[i], rewriter.value(id).name));
    } else {
      inputs.push_back(rewriter.maker(id)->inputs[0]);
    }
  }
  const Node& moved = *movement->node;
  const ValueId result = rewriter.add(node.op, std::move(inputs), node.attributes, node.name);
  return rewriter.replace(node.outputs[0],
                          rewriter.add(moved.op, {result}, moved.attributes, moved.name));
}

// Pads, slices and concatenations behind a transpose.
std::optional<Attributes> transposed_attributes(const Node& node, const Shape& perm) {
  Attributes attributes = node.attributes;
  if (node.op == "concat") {
    attributes["axis"] = perm[static_cast<std::size_t>(integer_of(node, "axis"))];
  } else if (node.op == "slice") {
    for (const std::string_view key : {"starts", "steps", "shape"}) {
      attributes[std::string(key)] = before_transpose(integers_of(node, key), perm);
    }
  } else if (node.op == "pad") {
    const Shape& pads = integers_of(node, "pads");
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(perm.size());
    Shape begins = before_transpose(Shape(pads.begin(), middle), perm);
    const Shape ends = before_transpose(Shape(middle, pads.end()), perm);
    begins.insert(begins.end(), ends.begin(), ends.end());
    attributes["pads"] = begins;
  } else {
    return std::nullopt;
  }
  return attributes;
}

bool pass_borders(Rewriter& rewriter, const Node& node) {
  if (node.op != "concat" && node.op != "slice" && node.op != "pad") return false;
  const std::size_t data = node.op == "concat" ? node.inputs.size() : 1;
  const Node* first = rewriter.maker(node.inputs[0]);
  std::vector<ValueId> inputs = node.inputs;
  for (std::size_t i = 0; i < data; ++i) {
    const Node* transpose = made_only_by(rewriter, inputs[i], "transpose");
    if (transpose == nullptr || transpose->attributes != first->attributes) return false;
    inputs[i] = transpose->inputs[0];
  }
  const Node& moved = *first;
  const Shape& perm = integers_of(moved, "perm");
  const ValueId result =
      rewriter.add(node.op, std::move(inputs), *transposed_attributes(node, perm), node.name);
  return rewriter.replace(node.outputs[0],
                          rewriter.add("transpose", {result}, moved.attributes, moved.name));
}

// reshape(transpose(x)) -> transpose(reshape(x)) where only dimensions of 1 come and go. New ones
// stay behind the dimension that they follow.
bool pass_ones(Rewriter& rewriter, const Node& node) {
  if (node.op != "reshape") return false;
  const Node* moved = made_only_by(rewriter, node.inputs[0], "transpose");
  if (moved == nullptr) return false;
  const Shape& shape = rewriter.shape(node.outputs[0]);
  const auto places = same_but_ones(rewriter.shape(node.inputs[0]), shape);
  if (!places) return false;
  const Shape& perm = integers_of(*moved, "perm");
  // The dimensions of the result by where they lie before the transpose.
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int place = (*places)[d];
    const std::int64_t before = d == 0 ? -1 : order.back().first;
    order.emplace_back(place < 0 ? before : perm[static_cast<std::size_t>(place)], d);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Shape source, back(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    source.push_back(shape[order[i].second]);
    back[order[i].second] = static_cast<std::int64_t>(i);
  }
  const ValueId view = rewriter.add("reshape", {moved->inputs[0]}, {{"shape", source}}, node.name);
  return rewriter.replace(node.outputs[0],
                          rewriter.add("transpose", {view}, {{"perm", back}}, moved->name));
}

// pad(reshape(x)) -> reshape(pad(x)) where the reshape only adds or removes dimensions of 1.
bool pass_pad(Rewriter& rewriter, const Node& node) {
  if (node.op != "pad") return false;
  const Node* moved = made_only_by(rewriter, node.inputs[0], "reshape");
  if (moved == nullptr) return false;
  const Shape& source = rewriter.shape(moved->inputs[0]);
  const Shape& shape = rewriter.shape(node.inputs[0]);
  const auto places = same_but_ones(source, shape);
  if (!places) return false;
  const Shape& pads = integers_of(node, "pads");
  Shape moved_pads(2 * source.size(), 0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t before = pads[d], after = pads[d + shape.size()];
    if ((*places)[d] < 0) {
      if (before != 0 || after != 0) return false;
      continue;
    }
    const auto place = static_cast<std::size_t>((*places)[d]);
    moved_pads[place] = before;
    moved_pads[place + source.size()] = after;
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = moved->inputs[0];
  Attributes attributes = node.attributes;
  attributes["pads"] = moved_pads;
  const ValueId wide = rewriter.add("pad", std::move(inputs), std::move(attributes), node.name);
  return rewriter.replace(
      node.outputs[0],
      rewriter.add("reshape", {wide}, {{"shape", rewriter.shape(node.outputs[0])}}, moved->name));
}

}  // namespace

Result<Graph> sink_movement(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) {
    const Node& node = rewriter.node(n);
    return pass_arithmetic(rewriter, node) || pass_borders(rewriter, node) ||
           pass_ones(rewriter, node) || pass_pad(rewriter, node);
  });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
