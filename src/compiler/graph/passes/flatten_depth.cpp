// A convolution over three dimensions as one over two: the slices that a window covers in depth
// become channels, and the places of the window in depth become images. There are schedules and
// algorithms for many images, none for depth.
#include <algorithm>

#include "compiler/graph/constants.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// Extents are [n, c, d, h, w]; attributes of a window hold those of d, h, w.
bool is_deep(const Rewriter& rewriter, const Node& node) {
  if (node.op != "conv" || integer_of(node, "group") != 1) return false;
  const TensorType& data = rewriter.type(node.inputs[0]);
  return data.rank() == 5 && data.dtype.is_float() && data.is_static() && data.elements() > 0 &&
         rewriter.type(node.outputs[0]).elements() > 0 &&
         rewriter.constant_of(node.inputs[1]) != nullptr;
}

Shape without_first(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

// [n, places, taps * c, h, w]: for each place of the window the slices that it covers.
ValueId covered_slices(Rewriter& rewriter, const Node& node, std::int64_t places) {
  const Shape& pads = integers_of(node, "pads");
  ValueId data =
      rewriter.add("transpose", {node.inputs[0]}, {{"perm", Shape{0, 2, 1, 3, 4}}}, node.name);
  if (pads[0] != 0 || pads[3] != 0) {
    const Shape depth{0, pads[0], 0, 0, 0, 0, pads[3], 0, 0, 0};
    data = rewriter.add("pad", {data}, {{"pads", depth}, {"mode", std::string("constant")}},
                        node.name);
  }
  Shape shape = rewriter.shape(data);
  shape[1] = places;
  const Shape steps{1, integers_of(node, "strides")[0], 1, 1, 1};
  std::vector<ValueId> slices;
  for (std::int64_t tap = 0; tap < integers_of(node, "kernel_shape")[0]; ++tap) {
    const Shape starts{0, tap * integers_of(node, "dilations")[0], 0, 0, 0};
    slices.push_back(rewriter.add(
        "slice", {data}, {{"starts", starts}, {"steps", steps}, {"shape", shape}}, node.name));
  }
  if (slices.size() == 1) return slices.front();
  return rewriter.add("concat", slices, {{"axis", std::int64_t{2}}}, node.name);
}

void flatten(Rewriter& rewriter, const Node node) {
  const Shape result = rewriter.shape(node.outputs[0]);
  const std::int64_t images = result[0] * result[2];
  const ValueId slices = covered_slices(rewriter, node, result[2]);
  const Shape& covered = rewriter.shape(slices);
  const Shape flat{images, covered[2], covered[3], covered[4]};
  // [oc, ic, d, h, w] to [oc, d * ic, h, w].
  const ConstantPtr weight = rewriter.constant_of(node.inputs[1]);
  const Shape& taps = weight->type.shape;
  const ConstantPtr moved = reshape_constant(transpose_constant(*weight, {0, 2, 1, 3, 4}),
                                             {taps[0], taps[2] * taps[1], taps[3], taps[4]});
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = rewriter.add("reshape", {slices}, {{"shape", flat}}, node.name);
  inputs[1] = rewriter.add_constant(moved, node.name + ".flat");
  Attributes attributes = node.attributes;
  for (const char* key : {"kernel_shape", "strides", "dilations"}) {
    attributes[key] = without_first(integers_of(node, key));
  }
  const Shape& pads = integers_of(node, "pads");
  attributes["pads"] = Shape{pads[1], pads[2], pads[4], pads[5]};
  const ValueId plane = rewriter.add("conv", inputs, attributes, node.name);
  const Shape apart{result[0], result[2], result[1], result[3], result[4]};
  const ValueId stacked = rewriter.add("reshape", {plane}, {{"shape", apart}}, node.name);
  rewriter.replace(node.outputs[0], rewriter.add("transpose", {stacked},
                                                 {{"perm", Shape{0, 2, 1, 3, 4}}}, node.name));
}

}  // namespace

Result<Graph> flatten_depth(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (rewriter.alive(n) && is_deep(rewriter, rewriter.node(n)))
      flatten(rewriter, rewriter.node(n));
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
