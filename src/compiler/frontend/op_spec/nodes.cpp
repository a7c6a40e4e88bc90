#include "compiler/frontend/op_spec/nodes.h"

#include <fmt/format.h>

#include "compiler/graph/builder.h"
#include "compiler/ops/forms/conv2d.h"
#include "compiler/ops/forms/elementwise.h"
#include "compiler/ops/forms/layernorm.h"
#include "compiler/ops/window.h"

namespace attune::op_spec {
namespace {

using graph::ValueId;
using ops::Arguments;
using ops::Attributes;
using Shape = std::vector<std::int64_t>;

// A graph in the making: operands in their order, then nodes.
class Sketch {
 public:
  Sketch(const ops::Family& family, const Arguments& arguments, const MakeConstant& make_constant)
      : arguments_(arguments), make_constant_(make_constant), builder_(family.name) {}

  std::int64_t number(std::string_view key) const { return arguments_.number(key); }
  const std::string& word(std::string_view key) const { return arguments_.word(key); }
  const Arguments& arguments() const { return arguments_; }

  ValueId input(const std::string& name, Shape shape) {
    ++operands_;
    return builder_.input(name, {arguments_.dtype, std::move(shape), {}});
  }
  // One that lies in blocks of channels.
  ValueId blocked_input(const std::string& name, Shape shape) {
    const ValueId id = input(name, std::move(shape));
    blocked_.push_back(id);
    return id;
  }
  Result<ValueId> constant(const std::string& name, Shape shape) {
    const ops::TensorType type{arguments_.dtype, std::move(shape), {}};
    ATTUNE_ASSIGN(ops::ConstantPtr contents, make_constant_(name, type, operands_++));
    return builder_.constant(std::move(contents), name);
  }
  // A number that is part of the operator.
  ValueId immediate(double value) {
    return builder_.constant(ops::scalar_constant(arguments_.dtype, value));
  }
  Result<ValueId> node(const std::string& op, std::vector<ValueId> inputs,
                       Attributes attributes = {}) {
    return builder_.add(op, std::move(inputs), std::move(attributes));
  }

  graph::Graph finish(ValueId output, bool blocked) && {
    if (blocked) blocked_.push_back(output);
    builder_.rename(output, "output");
    graph::Graph graph = std::move(builder_).finish({output});
    for (const ValueId id : blocked_) graph.value(id).layout = {arguments_.block};
    return graph;
  }

 private:
  const Arguments& arguments_;
  const MakeConstant& make_constant_;
  graph::Builder builder_;
  std::vector<ValueId> blocked_;
  int operands_ = 0;
};

Attributes attributes_of(const ops::Window& h, const ops::Window& w) {
  return {{"kernel_shape", Shape{h.kernel, w.kernel}},
          {"strides", Shape{h.stride, w.stride}},
          {"pads", Shape{h.pad_before, w.pad_before, h.pad_after, w.pad_after}},
          {"dilations", Shape{h.dilation, w.dilation}}};
}

Result<graph::Graph> matmul(Sketch sketch) {
  const ValueId a = sketch.input("a", {sketch.number("m"), sketch.number("k")});
  const ValueId b = sketch.input("b", {sketch.number("k"), sketch.number("n")});
  ATTUNE_ASSIGN(const ValueId output, sketch.node("matmul", {a, b}));
  return std::move(sketch).finish(output, false);
}

Result<graph::Graph> dense(Sketch sketch) {
  const ValueId data = sketch.input("data", {sketch.number("m"), sketch.number("k")});
  ATTUNE_ASSIGN(const ValueId weight,
                sketch.constant("weight", {sketch.number("k"), sketch.number("n")}));
  ATTUNE_ASSIGN(const ValueId output, sketch.node("matmul", {data, weight}));
  return std::move(sketch).finish(output, false);
}

Result<graph::Graph> batch_matmul(Sketch sketch) {
  const std::int64_t batch = sketch.number("b");
  const ValueId a = sketch.input("a", {batch, sketch.number("m"), sketch.number("k")});
  const ValueId b = sketch.input("b", {batch, sketch.number("k"), sketch.number("n")});
  ATTUNE_ASSIGN(const ValueId output, sketch.node("matmul", {a, b}));
  return std::move(sketch).finish(output, false);
}

Result<graph::Graph> conv2d(Sketch sketch) {
  const ops::Conv2dOptions options = ops::conv2d_options(sketch.arguments());
  const Shape shape{options.n, options.ic, options.h.size, options.w.size};
  const ValueId data =
      options.reads_nchw() ? sketch.input("data", shape) : sketch.blocked_input("data", shape);
  ATTUNE_ASSIGN(const ValueId weight,
                sketch.constant("weight", {options.oc, options.ic / options.groups,
                                           options.h.kernel, options.w.kernel}));
  Attributes attributes = attributes_of(options.h, options.w);
  attributes["group"] = options.groups;
  ATTUNE_ASSIGN(const ValueId output, sketch.node("conv", {data, weight}, std::move(attributes)));
  return std::move(sketch).finish(output, true);
}

Result<graph::Graph> conv2d_transpose(Sketch sketch) {
  const ops::Conv2dOptions options = ops::conv2d_options(sketch.arguments());
  const ValueId data =
      sketch.blocked_input("data", {options.n, options.ic, options.h.size, options.w.size});
  ATTUNE_ASSIGN(const ValueId weight,
                sketch.constant("weight", {options.ic, options.oc / options.groups,
                                           options.h.kernel, options.w.kernel}));
  Attributes attributes = attributes_of(options.h, options.w);
  attributes["group"] = options.groups;
  attributes["output_padding"] = Shape{sketch.number("output_pad"), sketch.number("output_pad_w")};
  ATTUNE_ASSIGN(const ValueId output,
                sketch.node("conv_transpose", {data, weight}, std::move(attributes)));
  return std::move(sketch).finish(output, true);
}

Result<graph::Graph> depthwise(Sketch sketch) {
  const ops::Window h = ops::rows_of(sketch.arguments(), "k");
  const ops::Window w = ops::columns_of(sketch.arguments());
  const std::int64_t channels = sketch.number("c");
  const Shape shape{sketch.number("n"), channels, h.size, w.size};
  // A single channel is a convolution like any other, and read as it comes.
  const ValueId data =
      channels == 1 ? sketch.input("data", shape) : sketch.blocked_input("data", shape);
  ATTUNE_ASSIGN(const ValueId weight, sketch.constant("weight", {channels, 1, h.kernel, w.kernel}));
  Attributes attributes = attributes_of(h, w);
  attributes["group"] = channels;
  ATTUNE_ASSIGN(const ValueId output, sketch.node("conv", {data, weight}, std::move(attributes)));
  return std::move(sketch).finish(output, true);
}

Result<graph::Graph> pool(Sketch sketch, const std::string& op) {
  ops::Window window{.kernel = sketch.number("k"),
                     .stride = sketch.number("stride"),
                     .pad_before = sketch.number("pad"),
                     .pad_after = sketch.number("pad")};
  const ValueId data = sketch.blocked_input(
      "data", {sketch.number("n"), sketch.number("c"), sketch.number("h"), sketch.number("w")});
  Attributes attributes = attributes_of(window, window);
  if (op == "average_pool") {
    const bool include = sketch.word("include_pad") == "yes";
    attributes["count_include_pad"] = std::int64_t{include};
    const std::int64_t counted = include ? window.pad_before : 0;
    attributes["counted_pads"] = Shape(4, counted);
  }
  ATTUNE_ASSIGN(const ValueId output, sketch.node(op, {data}, std::move(attributes)));
  return std::move(sketch).finish(output, true);
}

Result<graph::Graph> maxpool(Sketch sketch) { return pool(std::move(sketch), "max_pool"); }
Result<graph::Graph> avgpool(Sketch sketch) { return pool(std::move(sketch), "average_pool"); }

Result<graph::Graph> softmax(Sketch sketch) {
  const ValueId data = sketch.input("data", {sketch.number("m"), sketch.number("n")});
  ATTUNE_ASSIGN(const ValueId output, sketch.node("softmax", {data}, {{"axis", std::int64_t{1}}}));
  return std::move(sketch).finish(output, false);
}

Result<graph::Graph> layernorm(Sketch sketch) {
  const std::int64_t columns = sketch.number("n");
  const ValueId data = sketch.input("data", {sketch.number("m"), columns});
  ATTUNE_ASSIGN(const ValueId gamma, sketch.constant("gamma", {columns}));
  ATTUNE_ASSIGN(const ValueId beta, sketch.constant("beta", {columns}));
  const Attributes attributes{{"axis", std::int64_t{1}},
                              {"epsilon", ops::LayernormOptions{}.epsilon}};
  ATTUNE_ASSIGN(const ValueId output, sketch.node("layer_norm", {data, gamma, beta}, attributes));
  return std::move(sketch).finish(output, false);
}

Result<graph::Graph> reduce(Sketch sketch) {
  const ValueId data = sketch.input("data", {sketch.number("m"), sketch.number("n")});
  const std::string& op = sketch.word("op");
  const bool place = op.starts_with("arg");
  Attributes attributes{{"keepdims", std::int64_t{0}}};
  if (place) {
    attributes["axis"] = std::int64_t{1};
    attributes["select_last_index"] = std::int64_t{0};
  } else {
    attributes["axes"] = Shape{1};
  }
  const std::string name = place ? "arg_" + op.substr(3) : "reduce_" + op;
  ATTUNE_ASSIGN(const ValueId output, sketch.node(name, {data}, std::move(attributes)));
  return std::move(sketch).finish(output, false);
}

// One link of a chain, of the value before it and, where it has one, the operand.
Result<ValueId> add_link(Sketch& sketch, std::string_view op, ValueId before, ValueId operand) {
  if (op == "relu6") {
    return sketch.node("clip", {before, sketch.immediate(0), sketch.immediate(6)});
  }
  if (op == "leaky_relu") return sketch.node("leaky_relu", {before}, {{"alpha", 0.01}});
  if (op == "gelu") return sketch.node("gelu", {before}, {{"approximate", std::string("none")}});
  if (op == "hard_sigmoid") {
    return sketch.node("hard_sigmoid", {before}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  }
  if (op == "bias") op = "add";
  if (op == "scale") op = "mul";
  if (operand == graph::kNoValue) return sketch.node(std::string(op), {before});
  return sketch.node(std::string(op), {before, operand});
}

Result<graph::Graph> elementwise(Sketch sketch) {
  const std::int64_t rows = sketch.number("m"), columns = sketch.number("n");
  ATTUNE_ASSIGN(const std::vector<ops::ElementwiseOp> chain, ops::parse_chain(sketch.word("op")));
  ValueId value = sketch.input("data", {rows, columns});
  int operands = 0;
  for (const ops::ElementwiseOp& op : chain) {
    ValueId operand = graph::kNoValue;
    if (op.operand != ops::OperandKind::None) {
      const std::string name = fmt::format("operand{}", operands++);
      if (op.operand == ops::OperandKind::Tensor) {
        operand = sketch.input(name, {rows, columns});
      } else {
        ATTUNE_ASSIGN(operand, sketch.constant(name, {columns}));
      }
    }
    ATTUNE_ASSIGN(value, add_link(sketch, op.name, value, operand));
  }
  return std::move(sketch).finish(value, false);
}

Result<graph::Graph> transpose(Sketch sketch) {
  const ValueId data =
      sketch.input("data", {sketch.number("d0"), sketch.number("d1"), sketch.number("d2")});
  Shape order;
  for (const char digit : sketch.word("perm")) order.push_back(digit - '0');
  ATTUNE_ASSIGN(const ValueId output, sketch.node("transpose", {data}, {{"perm", order}}));
  return std::move(sketch).finish(output, false);
}

struct FamilyNodes {
  std::string_view family;
  Result<graph::Graph> (*build)(Sketch);
};

constexpr FamilyNodes kAll[] = {
    {"matmul", matmul},       {"dense", dense},         {"batch_matmul", batch_matmul},
    {"conv2d", conv2d},       {"depthwise", depthwise}, {"conv2d_transpose", conv2d_transpose},
    {"maxpool", maxpool},     {"avgpool", avgpool},     {"softmax", softmax},
    {"layernorm", layernorm}, {"reduce", reduce},       {"elementwise", elementwise},
    {"transpose", transpose},
};

}  // namespace

Result<graph::Graph> graph_of(const ops::Family& family, const Arguments& arguments,
                              const MakeConstant& make_constant) {
  for (const FamilyNodes& nodes : kAll) {
    if (nodes.family == family.name) return nodes.build({family, arguments, make_constant});
  }
  CHECK(false, fmt::format("no nodes stand for the operator '{}'", family.name));
}

}  // namespace attune::op_spec
