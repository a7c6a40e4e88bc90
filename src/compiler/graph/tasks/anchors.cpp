#include "compiler/graph/tasks/anchors.h"

#include <algorithm>

#include "compiler/ops/algorithms/conv2d_algorithms.h"
#include "compiler/ops/algorithms/conv2d_transpose_algorithms.h"
#include "compiler/ops/algorithms/strassen.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/forms/conv2d.h"
#include "compiler/ops/forms/conv2d_transpose.h"
#include "compiler/ops/forms/depthwise.h"
#include "compiler/ops/forms/matmul.h"
#include "compiler/ops/forms/pool.h"

namespace attune::graph {
namespace {

using ops::OpCall;

template <typename List>
bool contains(const List& list, ir::DType type) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

// The window along spatial dimension `d` of a convolution or pool; the missing rows of a tensor
// with three dimensions are one.
ops::Window window_of(const OpCall& call, int d) {
  const int spatial = call.inputs[0].rank() - 2;
  if (spatial == 1 && d == 0) return {};
  const auto at = static_cast<std::size_t>(spatial == 1 ? 0 : d);
  const auto& pads = call.integers("pads");
  return {.size = call.inputs[0].shape[at + 2],
          .kernel = call.integers("kernel_shape")[at],
          .stride = call.integers("strides")[at],
          .pad_before = pads[at],
          .pad_after = pads[at + static_cast<std::size_t>(spatial)],
          .dilation = call.has_attribute("dilations") ? call.integers("dilations")[at] : 1};
}

bool is_image(const TensorType& type) {
  return (type.rank() == 3 || type.rank() == 4) && type.is_static() && type.elements() > 0;
}

bool no_negative_pads(const OpCall& call) {
  const auto& pads = call.integers("pads");
  return std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad >= 0; });
}

// Convolutions with weights known ahead.
bool is_fixed_convolution(const OpCall& call) {
  return is_image(call.inputs[0]) && call.constants[1] != nullptr &&
         call.inputs[0].dtype == call.inputs[1].dtype &&
         contains(ops::kProductTypes, call.inputs[0].dtype) && no_negative_pads(call);
}

ops::Conv2dOptions conv_options(const OpCall& call, std::int64_t block) {
  return {.n = call.inputs[0].shape[0],
          .ic = call.inputs[0].shape[1],
          .oc = call.inputs[1].shape[0],
          .groups = call.integer("group"),
          .h = window_of(call, 0),
          .w = window_of(call, 1),
          .block = block,
          .dtype = call.inputs[0].dtype};
}

bool is_depthwise(const ops::Conv2dOptions& options) {
  return options.groups > 1 && options.groups == options.ic && options.ic == options.oc;
}

ops::PoolOptions pool_options(const OpCall& call, std::int64_t block) {
  const bool is_max = call.name == "max_pool";
  return {.kind = is_max ? ops::PoolKind::Max : ops::PoolKind::Average,
          .n = call.inputs[0].shape[0],
          .c = call.inputs[0].shape[1],
          .h = window_of(call, 0),
          .w = window_of(call, 1),
          .count_include_pad = !is_max && call.integer("count_include_pad") != 0,
          .block = block,
          .dtype = call.inputs[0].dtype};
}

// Global pools are windows as large as the image.
ops::PoolOptions global_pool_options(const OpCall& call, std::int64_t block) {
  const auto& shape = call.inputs[0].shape;
  const bool flat = shape.size() == 3;
  const std::int64_t rows = flat ? 1 : shape[2];
  return {.kind = call.name == "global_max_pool" ? ops::PoolKind::Max : ops::PoolKind::Average,
          .n = shape[0],
          .c = shape[1],
          .h = {.size = rows, .kernel = rows},
          .w = {.size = shape.back(), .kernel = shape.back()},
          .block = block,
          .dtype = call.inputs[0].dtype};
}

bool is_pool(std::string_view op) { return op == "max_pool" || op == "average_pool"; }
bool is_global_pool(std::string_view op) {
  return op == "global_max_pool" || op == "global_average_pool";
}

ops::Conv2dTransposeOptions transpose_options(const OpCall& call, std::int64_t block) {
  const auto& padding = call.integers("output_padding");
  const bool flat = call.inputs[0].rank() == 3;
  return {.n = call.inputs[0].shape[0],
          .ic = call.inputs[0].shape[1],
          .oc = call.inputs[1].shape[1] * call.integer("group"),
          .groups = call.integer("group"),
          .h = window_of(call, 0),
          .w = window_of(call, 1),
          .output_pad_h = flat ? 0 : padding[0],
          .output_pad_w = padding.back(),
          .block = block,
          .dtype = call.inputs[0].dtype};
}

// Whether the form computes exactly the positions that the shape rule gave.
bool same_positions(const TensorType& output, std::int64_t h, std::int64_t w) {
  return output.shape.back() == w && (output.rank() == 3 ? h == 1 : output.shape[2] == h);
}

Result<ops::Operator> convolution(const ops::Conv2dOptions& options) {
  if (is_depthwise(options)) {
    const ops::DepthwiseOptions depthwise{.n = options.n,
                                          .c = options.ic,
                                          .h = options.h,
                                          .w = options.w,
                                          .block = options.block,
                                          .dtype = options.dtype};
    ATTUNE_ASSIGN(ir::Program program, ops::build_depthwise(depthwise));
    return ops::Operator{.program = std::move(program),
                         .flops = ops::flops(depthwise),
                         .tolerance = ops::tolerance_of(options.dtype)};
  }
  ATTUNE_ASSIGN(ir::Program program, ops::build_conv2d(options));
  ATTUNE_ASSIGN(std::vector<ops::AlgorithmDef> alternatives,
                ops::build_alternatives(options, "auto"));
  return ops::Operator{.program = std::move(program),
                       .flops = ops::flops(options),
                       .tolerance = ops::tolerance_of(options.dtype),
                       .alternatives = std::move(alternatives)};
}

// The operator on blocked activations, whatever the layouts are now; nothing when there is none.
std::optional<ops::Operator> blocked_operator(const OpCall& call, const TensorType& output,
                                              std::int64_t block) {
  Result<ops::Operator> built = unsupported("");
  if (call.name == "conv" && is_fixed_convolution(call)) {
    built = convolution(conv_options(call, block));
  } else if (call.name == "conv_transpose" && is_fixed_convolution(call)) {
    const auto options = transpose_options(call, block);
    if (!same_positions(output, options.output_h(), options.output_w())) return std::nullopt;
    auto program = ops::build_conv2d_transpose(options);
    auto alternatives = ops::build_alternatives(options, "auto");
    if (!program.ok() || !alternatives.ok()) return std::nullopt;
    built = ops::Operator{.program = std::move(*program),
                          .flops = ops::flops(options),
                          .tolerance = ops::tolerance_of(options.dtype),
                          .alternatives = std::move(*alternatives)};
  } else if ((is_pool(call.name) && is_image(call.inputs[0]) && no_negative_pads(call)) ||
             (is_global_pool(call.name) && is_image(call.inputs[0]))) {
    const auto options =
        is_pool(call.name) ? pool_options(call, block) : global_pool_options(call, block);
    if (!same_positions(output, options.h.positions(), options.w.positions())) return std::nullopt;
    auto program = ops::build_pool(options);
    if (!program.ok()) return std::nullopt;
    built = ops::Operator{.program = std::move(*program),
                          .flops = ops::flops(options),
                          .tolerance = ops::tolerance_of(options.dtype)};
  }
  if (!built.ok()) return std::nullopt;
  return std::move(*built);
}

std::optional<Anchor> blocked_anchor(const Graph& graph, const Node& node, const OpCall& call) {
  const Value& output = graph.value(node.outputs[0]);
  const std::int64_t block = output.layout.block;
  std::optional<ops::Operator> op = blocked_operator(call, output.type, block);
  if (!op) return std::nullopt;
  Anchor anchor;
  anchor.inputs = {node.inputs[0]};
  if (operator_of(node).kind == ops::OpKind::Heavy) anchor.inputs.push_back(node.inputs[1]);
  if (call.has(2)) anchor.bias = node.inputs[2];
  std::vector<std::string> names;
  for (const ir::Axis& axis : op->program.find_stage("output")->axes) names.push_back(axis.name);
  anchor.frame = blocked_frame(output.type.shape, block, names);
  anchor.op = std::move(*op);
  return anchor;
}

Result<std::optional<Anchor>> matrix_anchor(const Graph& graph, const Node& node,
                                            const OpCall& call) {
  const TensorType& a = call.inputs[0];
  const TensorType& b = call.inputs[1];
  const TensorType& output = graph.value(node.outputs[0]).type;
  if (a.rank() < 2 || b.rank() < 2 || a.dtype != b.dtype || output.elements() == 0 ||
      a.elements() == 0 || !contains(ops::kProductTypes, a.dtype) ||
      output.dtype != ops::result_of(a.dtype) || !a.is_static() || !b.is_static()) {
    return std::optional<Anchor>();
  }
  const int rank = output.rank();
  ops::MatmulOptions options{
      .m = a.shape[a.shape.size() - 2], .n = b.shape.back(), .k = a.shape.back(), .dtype = a.dtype};
  Anchor anchor;
  anchor.inputs = node.inputs;
  anchor.inputs.resize(2);
  Result<ir::Program> program = unsupported("");
  double batches = 1;
  if (b.rank() == 2) {
    options.m = a.elements() / options.k;
    program = call.constants[1] != nullptr ? ops::build_dense(options) : ops::build_matmul(options);
    anchor.frame = merged_frame(output.shape, {{0, rank - 1}, {rank - 1, rank}}, {"i", "j"});
  } else {
    const std::int64_t batch = output.elements() / (options.m * options.n);
    program = ops::build_batch_matmul(batch, options);
    batches = static_cast<double>(batch);
    anchor.frame = merged_frame(
        output.shape, {{0, rank - 2}, {rank - 2, rank - 1}, {rank - 1, rank}}, {"b", "i", "j"});
  }
  if (!program.ok()) return std::optional<Anchor>();
  anchor.op = {.program = std::move(*program),
               .flops = batches * ops::flops(options),
               .tolerance = ops::tolerance_of(a.dtype)};
  if (b.rank() == 2 && call.constants[1] != nullptr && ops::strassen_applies(options)) {
    ATTUNE_ASSIGN(ops::AlgorithmDef strassen, ops::build_strassen(options));
    anchor.op.alternatives.push_back(std::move(strassen));
  }
  return std::optional(std::move(anchor));
}

bool is_blocked_convolution(const Graph& graph, const Node& node) {
  return node.op == "conv" && graph.value(node.outputs[0]).layout.is_blocked() &&
         is_fixed_convolution(call_of(graph, node));
}

// A convolution to so few channels that most lanes of a block would be empty, on rows that are long
// enough to be vectors themselves.
bool wants_vectors_of_pixels(const ops::Conv2dOptions& options, std::int64_t block) {
  return options.groups == 1 && options.w.stride == 1 && options.w.positions() >= 4 * block &&
         2 * options.oc < std::min<std::int64_t>(block, 8);
}

}  // namespace

std::optional<BlockedForm> blocked_form(const Graph& graph, const Node& node, std::int64_t block) {
  if (node.outputs.size() != 1) return std::nullopt;
  const OpCall call = call_of(graph, node);
  if (!blocked_operator(call, graph.value(node.outputs[0]).type, block)) return std::nullopt;
  if (call.name == "conv") {
    const ops::Conv2dOptions options = conv_options(call, block);
    if (wants_vectors_of_pixels(options, block)) return std::nullopt;
    if (options.reads_nchw()) return BlockedForm{WantedLayout::Plain};
  }
  const bool heavy = operator_of(node).kind == ops::OpKind::Heavy;
  return BlockedForm{heavy ? WantedLayout::Blocked : WantedLayout::Any};
}

bool is_pointwise_convolution(const Graph& graph, const Node& node) {
  if (!is_blocked_convolution(graph, node)) return false;
  const auto options = conv_options(call_of(graph, node), 1);
  const auto has_one_tap = [](const ops::Window& window) {
    return window.kernel == 1 && window.stride == 1 && window.pad_before == 0 &&
           window.pad_after == 0;
  };
  return options.groups == 1 && !options.reads_nchw() && has_one_tap(options.h) &&
         has_one_tap(options.w);
}

bool is_first_convolution(const Graph& graph, const Node& node) {
  return is_blocked_convolution(graph, node) && conv_options(call_of(graph, node), 1).reads_nchw();
}

bool is_depthwise_convolution(const Graph& graph, const Node& node) {
  return is_blocked_convolution(graph, node) && is_depthwise(conv_options(call_of(graph, node), 1));
}

Result<std::optional<Anchor>> make_anchor(const Graph& graph, const Node& node) {
  const OpCall call = call_of(graph, node);
  if (node.outputs.size() != 1) return std::optional<Anchor>();
  if (graph.value(node.outputs[0]).layout.is_blocked()) return blocked_anchor(graph, node, call);
  if (call.name == "matmul" && call.inputs.size() == 2) return matrix_anchor(graph, node, call);
  return std::optional<Anchor>();
}

}  // namespace attune::graph
