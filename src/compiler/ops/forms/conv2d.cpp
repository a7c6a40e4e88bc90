#include "compiler/ops/forms/conv2d.h"

#include "compiler/ops/algorithms/conv2d_algorithms.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

ir::Expr anchor_value(const Conv2dOptions& options, const ir::Buffer& input,
                      const ir::Buffer& filter) {
  const ir::Expr row = tap("oh", "kh", options.h);
  const ir::Expr column = tap("ow", "kw", options.w);
  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  if (options.reads_nchw()) {
    const ir::Expr ic = ir::var("ic");
    return product(ir::load(input, {ir::var("n"), ic, row, column}),
                   ir::load(filter, {out, ic, ir::var("kh"), ir::var("kw")}));
  }
  const std::vector<ir::Expr> channel = channel_index(options.channels());
  const ir::Expr in = ir::var("ic") * ir::Expr(options.cut().lanes) + ir::var("ib");
  return product(ir::load(input, {ir::var("n"), channel[0], row, column, channel[1]}),
                 ir::load(filter, {out, in, ir::var("kh"), ir::var("kw")}));
}

}  // namespace

Status validate(const Conv2dOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_size("n", options.n));
  ATTUNE_RETURN_IF_ERROR(check_channels(options.channels()));
  ATTUNE_RETURN_IF_ERROR(check_window("h", "kh", options.h));
  ATTUNE_RETURN_IF_ERROR(check_window("w", "kw", options.w));
  return check_dtype("conv2d", options.dtype, kProductTypes);
}

double flops(const Conv2dOptions& options) {
  double count = 2;
  for (std::int64_t extent :
       {options.n, options.oc, options.h.positions(), options.w.positions(),
        options.channels().ic_per_group(), options.h.kernel, options.w.kernel}) {
    count *= static_cast<double>(extent);
  }
  return count;
}

Conv2dInputs add_conv2d_inputs(ir::Program& program, const Conv2dOptions& options) {
  const std::int64_t blocks = ceil_div(options.ic, options.block);
  std::vector<std::int64_t> shape{options.n, blocks, options.h.size, options.w.size, options.block};
  if (options.reads_nchw()) shape = {options.n, options.ic, options.h.size, options.w.size};
  Conv2dInputs inputs;
  inputs.data = ir::add_input(program, "data", options.dtype, shape);
  inputs.weight = ir::add_input(
      program, "weight", options.dtype,
      {options.oc, options.channels().ic_per_group(), options.h.kernel, options.w.kernel}, true);
  return inputs;
}

ir::Buffer add_conv2d_filter(ir::Program& program, const Conv2dOptions& options,
                             const ir::Buffer& weight) {
  const ChannelCut cut = options.cut();
  const std::vector<ir::Axis> axes{{"oc", options.channels().oc_blocks() * options.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"kh", options.h.kernel},
                                   {"kw", options.w.kernel}};
  ir::Expr value = ir::load(weight, index_of(axes));
  for (const std::size_t dimension : {1, 0}) {
    const std::int64_t extent = weight->shape[dimension];
    if (axes[dimension].extent == extent) continue;
    value = ir::select(ir::axis_var(axes[dimension]) < ir::Expr(extent), value,
                       ir::zero_of(options.dtype));
  }
  return ir::add_compute(program, "filter", axes, value);
}

std::vector<ir::Axis> conv2d_output_axes(const Conv2dOptions& options) {
  return {{"n", options.n},
          {"oc", options.channels().oc_blocks()},
          {"oh", options.h.positions()},
          {"ow", options.w.positions()},
          {"ob", options.block}};
}

ir::Buffer add_conv2d_pad(ir::Program& program, const Conv2dOptions& options,
                          const ir::Buffer& data, const Border& extra) {
  std::vector<std::string> names{"n", "ic", "ih", "iw"};
  if (!options.reads_nchw()) names.push_back("ib");
  const Border border{options.h.pad_before + extra.top, options.h.pad_after + extra.bottom,
                      options.w.pad_before + extra.left, options.w.pad_after + extra.right};
  return add_border(program, data, names, border, ir::zero_of(options.dtype));
}

Result<ir::Program> build_conv2d(const Conv2dOptions& options) {
  ATTUNE_RETURN_IF_ERROR(validate(options));
  ir::Program program{"conv2d", {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = add_conv2d_filter(program, options, inputs.weight);
  const ir::Buffer input = add_conv2d_pad(program, options, inputs.data);
  add_conv2d_products(program, options, input, filter);
  return check_memory(std::move(program));
}

void add_conv2d_products(ir::Program& program, const Conv2dOptions& options,
                         const ir::Buffer& input, const ir::Buffer& filter) {
  const ChannelCut cut = options.cut();
  std::vector<ir::Axis> reduce{
      {"ic", cut.blocks}, {"kh", options.h.kernel}, {"kw", options.w.kernel}};
  if (!options.reads_nchw()) reduce.push_back({"ib", cut.lanes});
  const std::vector<ir::Axis> axes = conv2d_output_axes(options);
  const ir::Buffer anchor = ir::add_reduce(program, "anchor", axes, reduce, ir::Reduction::Sum,
                                           anchor_value(options, input, filter));
  add_output(program, anchor, axes, result_of(options.dtype));
}

Conv2dOptions conv2d_options(const Arguments& arguments) {
  return {.n = arguments.number("n"),
          .ic = arguments.number("ic"),
          .oc = arguments.number("oc"),
          .groups = arguments.number("groups"),
          .h = rows_of(arguments, "kh"),
          .w = columns_of(arguments),
          .block = arguments.block,
          .dtype = arguments.dtype};
}

std::vector<Key> conv2d_keys() {
  return {{"n", KeyKind::Number, "1"},
          {"h"},
          {"w"},
          {"ic"},
          {"oc"},
          {"kh"},
          {"kw"},
          {"stride", KeyKind::Number, "1"},
          {"stride_w", KeyKind::Number, "=stride"},
          {"pad", KeyKind::Number, "0"},
          {"pad_w", KeyKind::Number, "=pad"},
          {"pad_bottom", KeyKind::Number, "=pad"},
          {"pad_right", KeyKind::Number, "=pad_w"},
          {"dilation", KeyKind::Number, "1"},
          {"dilation_w", KeyKind::Number, "=dilation"},
          {"groups", KeyKind::Number, "1"}};
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  const Conv2dOptions options = conv2d_options(arguments);
  SpecNode conv{
      "conv",
      {{.name = "data",
        .shape = {options.n, options.ic, options.h.size, options.w.size},
        .blocked = !options.reads_nchw()},
       {.name = "weight",
        .shape = {options.oc, options.ic / options.groups, options.h.kernel, options.w.kernel},
        .constant = true}},
      window_attributes(options.h, options.w)};
  conv.attributes["group"] = options.groups;
  return {{std::move(conv)}, true};
}

}  // namespace

Family conv2d_family() {
  std::vector<Key> keys = conv2d_keys();
  Key algo{"algo", KeyKind::Word, "auto", {"auto", "direct"}};
  for (const Conv2dAlgorithm& algorithm : conv2d_algorithms()) algo.words.push_back(algorithm.name);
  keys.push_back(algo);
  return {"conv2d", keys,
          [](const Arguments& arguments) -> Result<Operator> {
            const Conv2dOptions options = conv2d_options(arguments);
            ATTUNE_ASSIGN(ir::Program program, build_conv2d(options));
            ATTUNE_ASSIGN(std::vector<AlgorithmDef> alternatives,
                          build_alternatives(options, arguments.word("algo")));
            Operator op{.program = std::move(program),
                        .flops = flops(options),
                        .tolerance = tolerance_of(options.dtype),
                        .blocked = {{"output", options.oc}},
                        .alternatives = std::move(alternatives)};
            if (!options.reads_nchw()) op.blocked.push_back({"data", options.ic});
            return op;
          },
          graph_of};
}

}  // namespace attune::ops
