// A pad in front of a convolution or pool becomes part of its own padding, where the border that
// the operator adds holds the same: zeros for convolutions, averages and norms, -infinity for
// maxima; for maxima of values that are never negative also zeros, if no window lies in the border
// alone.
#include <algorithm>
#include <limits>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// A pad as the operator behind it sees it, who may read it through a reshape that only adds or
// removes dimensions of 1.
struct Padding {
  const Node* pad = nullptr;
  Shape pads;   // of the dimensions that the operator reads
  Shape shape;  // of the data without the padding
};

std::optional<Padding> padding_of(const Rewriter& rewriter, ValueId data) {
  if (const Node* pad = made_by(rewriter, data, "pad")) {
    return Padding{pad, integers_of(*pad, "pads"), rewriter.shape(pad->inputs[0])};
  }
  const Node* view = made_by(rewriter, data, "reshape");
  const Node* pad = view == nullptr ? nullptr : made_by(rewriter, view->inputs[0], "pad");
  if (pad == nullptr) return std::nullopt;
  const Shape& shape = rewriter.shape(data);
  const auto places = same_but_ones(rewriter.shape(view->inputs[0]), shape);
  if (!places) return std::nullopt;
  const Shape& source = rewriter.shape(pad->inputs[0]);
  const Shape& pads = integers_of(*pad, "pads");
  Padding padding{pad, Shape(2 * shape.size(), 0), Shape(shape.size(), 1)};
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if ((*places)[d] < 0) continue;
    const auto place = static_cast<std::size_t>((*places)[d]);
    padding.pads[d] = pads[place];
    padding.pads[d + shape.size()] = pads[place + source.size()];
    padding.shape[d] = source[place];
    elements *= source[place];
  }
  if (elements != rewriter.type(pad->inputs[0]).elements()) return std::nullopt;
  return padding;
}

// Kernels have code of their own for each place near the border: wide ones are better copied.
constexpr std::int64_t kWidestPad = 16;

bool pads_only_images(const Shape& pads) {
  const std::size_t rank = pads.size() / 2;
  if (rank < 3 ||
      std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad < 0 || pad > kWidestPad; })) {
    return false;
  }
  return pads[0] == 0 && pads[1] == 0 && pads[rank] == 0 && pads[rank + 1] == 0;
}

// The number that a pad fills its border with, if it does.
std::optional<double> fill_of(const Rewriter& rewriter, const Node& pad) {
  if (std::get<std::string>(pad.attributes.at("mode")) != "constant") return std::nullopt;
  if (pad.inputs.size() < 2 || pad.inputs[1] == kNoValue) return 0.0;
  return number_of(rewriter, pad.inputs[1]);
}

bool is_never_negative(const Rewriter& rewriter, ValueId id) {
  const Node* node = rewriter.maker(id);
  return node != nullptr && operator_of(*node).traits.never_negative;
}

// Pads of the spatial dimensions: an operator's own and those of the pad in front.
Shape joined_pads(const Shape& own, const Shape& added) {
  const std::size_t rank = added.size() / 2, spatial = own.size() / 2;
  Shape joined = own;
  for (std::size_t i = 0; i < spatial; ++i) {
    joined[i] += added[i + 2];
    joined[i + spatial] += added[rank + i + 2];
  }
  return joined;
}

// Every window has an element that is not of the border.
bool windows_reach_inside(const Node& node, const Shape& pads) {
  const Shape& kernel = integers_of(node, "kernel_shape");
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (integers_of(node, "dilations")[i] != 1 || pads[i] >= kernel[i] ||
        pads[i + kernel.size()] >= kernel[i]) {
      return false;
    }
  }
  return true;
}

bool is_same_border(const Rewriter& rewriter, const Node& node, const Padding& padding) {
  const Node& pad = *padding.pad;
  const std::optional<double> fill = fill_of(rewriter, pad);
  if (!fill) return false;
  if (node.op == "average_pool" && integers_of(node, "counted_pads") != integers_of(node, "pads")) {
    return false;  // one border counts, the other does not
  }
  const ops::PadValue value = operator_of(node).traits.pads_with;
  if (value == ops::PadValue::Zero) return *fill == 0;
  if (value == ops::PadValue::None || !rewriter.type(pad.outputs[0]).dtype.is_float()) return false;
  if (*fill <= static_cast<double>(std::numeric_limits<float>::lowest())) return true;
  return *fill == 0 && is_never_negative(rewriter, pad.inputs[0]) &&
         windows_reach_inside(node, joined_pads(integers_of(node, "pads"), padding.pads));
}

bool take_padding(Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  if (node.inputs.empty()) return false;
  if (!has_attribute(node, "pads") || node.op == "pad") return false;
  const auto padding = padding_of(rewriter, node.inputs[0]);
  if (!padding || !pads_only_images(padding->pads) || !is_same_border(rewriter, node, *padding)) {
    return false;
  }
  Attributes attributes = node.attributes;
  attributes["pads"] = joined_pads(integers_of(node, "pads"), padding->pads);
  if (node.op == "average_pool") {  // the pad's border was made of elements, which count
    attributes["counted_pads"] = joined_pads(integers_of(node, "counted_pads"), padding->pads);
    attributes["count_include_pad"] = std::int64_t{1};
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = padding->pad->inputs[0];
  if (rewriter.shape(inputs[0]) != padding->shape) {
    inputs[0] = rewriter.add("reshape", {inputs[0]}, {{"shape", padding->shape}}, node.name);
  }
  rewriter.update(n, std::move(inputs), std::move(attributes));
  return true;
}

}  // namespace

Result<Graph> fold_padding(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) { return take_padding(rewriter, n); });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
