#include "compiler/ops/conv2d.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

Status check_groups(const Conv2dOptions& options) {
  const auto check = [&](std::string_view name, std::int64_t channels) -> Status {
    if (channels % options.groups == 0) return {};
    return invalid(
        fmt::format("{}={} is not a multiple of groups={}", name, channels, options.groups));
  };
  ATTUNE_RETURN_IF_ERROR(check("ic", options.ic));
  return check("oc", options.oc);
}

// Where the anchor finds input channel (ic, ib) of the group that its output channel belongs to:
// the indices of the dimensions c and B of the data.
std::vector<ir::Expr> channel_index(const Conv2dOptions& options) {
  const std::int64_t block = options.block;
  const ir::Expr ic = ir::var("ic");
  const ir::Expr ib = ir::var("ib");
  if (options.groups == 1) return {ic, ib};

  // Uniform over the lanes of an output block when groups are made of whole blocks; the lanes
  // beyond the last channel belong to the last group.
  const std::int64_t per_group = options.oc_per_group();
  ir::Expr group = per_group % block == 0
                       ? ir::var("oc") / ir::Expr(per_group / block)
                       : (ir::var("oc") * ir::Expr(block) + ir::var("ob")) / ir::Expr(per_group);
  if (options.oc % block != 0) group = ir::min(group, ir::Expr(options.groups - 1));

  const ChannelCut cut = channel_cut(options);
  if (options.ic_per_group() % block == 0) return {group * ir::Expr(cut.blocks) + ic, ib};
  const ir::Expr channel = group * ir::Expr(options.ic_per_group()) + ic * ir::Expr(cut.lanes) + ib;
  return {channel / ir::Expr(block), channel % ir::Expr(block)};
}

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
  const std::vector<ir::Expr> channel = channel_index(options);
  const ir::Expr in = ir::var("ic") * ir::Expr(channel_cut(options).lanes) + ir::var("ib");
  return product(ir::load(input, {ir::var("n"), channel[0], row, column, channel[1]}),
                 ir::load(filter, {out, in, ir::var("kh"), ir::var("kw")}));
}

}  // namespace

ChannelCut channel_cut(const Conv2dOptions& options) {
  const std::int64_t channels = options.ic_per_group();
  if (options.reads_nchw()) return {channels, 1};
  if (options.groups == 1) {
    const std::int64_t lanes = std::min(channels, options.block);
    return {ceil_div(channels, lanes), lanes};
  }
  std::int64_t lanes = std::min(channels, options.block);
  while (channels % lanes != 0) --lanes;
  return {channels / lanes, lanes};
}

Status validate(const Conv2dOptions& options) {
  const NamedSize sizes[] = {{"n", options.n},
                             {"ic", options.ic},
                             {"oc", options.oc},
                             {"groups", options.groups},
                             {"block", options.block}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  ATTUNE_RETURN_IF_ERROR(check_groups(options));
  ATTUNE_RETURN_IF_ERROR(check_window("h", "kh", options.h));
  ATTUNE_RETURN_IF_ERROR(check_window("w", "kw", options.w));
  return check_dtype("conv2d", options.dtype, kProductTypes);
}

double flops(const Conv2dOptions& options) {
  double count = 2;
  for (std::int64_t extent : {options.n, options.oc, options.h.positions(), options.w.positions(),
                              options.ic_per_group(), options.h.kernel, options.w.kernel}) {
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
  inputs.weight =
      ir::add_input(program, "weight", options.dtype,
                    {options.oc, options.ic_per_group(), options.h.kernel, options.w.kernel}, true);
  return inputs;
}

ir::Buffer add_conv2d_filter(ir::Program& program, const Conv2dOptions& options,
                             const ir::Buffer& weight) {
  const ChannelCut cut = channel_cut(options);
  const std::vector<ir::Axis> axes{{"oc", options.oc_blocks() * options.block},
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
          {"oc", options.oc_blocks()},
          {"oh", options.h.positions()},
          {"ow", options.w.positions()},
          {"ob", options.block}};
}

std::vector<std::string> conv2d_input_names(const Conv2dOptions& options) {
  if (options.reads_nchw()) return {"n", "ic", "ih", "iw"};
  return {"n", "ic", "ih", "iw", "ib"};
}

Result<ir::Program> build_conv2d(const Conv2dOptions& options) {
  ATTUNE_RETURN_IF_ERROR(validate(options));
  ir::Program program{"conv2d", {}, {}, {}};
  const Conv2dInputs inputs = add_conv2d_inputs(program, options);
  const ir::Buffer filter = add_conv2d_filter(program, options, inputs.weight);
  const ir::Buffer input = add_border(
      program, inputs.data, conv2d_input_names(options),
      {options.h.pad_before, options.h.pad_after, options.w.pad_before, options.w.pad_after},
      ir::zero_of(options.dtype));

  const ChannelCut cut = channel_cut(options);
  std::vector<ir::Axis> reduce{
      {"ic", cut.blocks}, {"kh", options.h.kernel}, {"kw", options.w.kernel}};
  if (!options.reads_nchw()) reduce.push_back({"ib", cut.lanes});
  const std::vector<ir::Axis> axes = conv2d_output_axes(options);
  const ir::Buffer anchor = ir::add_reduce(program, "anchor", axes, reduce, ir::Reduction::Sum,
                                           anchor_value(options, input, filter));
  add_output(program, anchor, axes, result_of(options.dtype));
  return check_memory(std::move(program));
}

Conv2dOptions conv2d_options(const Arguments& arguments) {
  const auto window = [&](std::string_view size, std::string_view kernel) {
    return Window{.size = arguments.number(size),
                  .kernel = arguments.number(kernel),
                  .stride = arguments.number("stride"),
                  .pad_before = arguments.number("pad"),
                  .pad_after = arguments.number("pad"),
                  .dilation = arguments.number("dilation")};
  };
  return {.n = arguments.number("n"),
          .ic = arguments.number("ic"),
          .oc = arguments.number("oc"),
          .groups = arguments.number("groups"),
          .h = window("h", "kh"),
          .w = window("w", "kw"),
          .block = arguments.block,
          .dtype = arguments.dtype};
}

Family conv2d_family() {
  return {"conv2d",
          {{"n", KeyKind::Number, "1"},
           {"h"},
           {"w"},
           {"ic"},
           {"oc"},
           {"kh"},
           {"kw"},
           {"stride", KeyKind::Number, "1"},
           {"pad", KeyKind::Number, "0"},
           {"dilation", KeyKind::Number, "1"},
           {"groups", KeyKind::Number, "1"},
           {"algo", KeyKind::Word, "auto", {"auto", "direct"}}},
          [](const Arguments& arguments) -> Result<Operator> {
            const Conv2dOptions options = conv2d_options(arguments);
            ATTUNE_ASSIGN(ir::Program program, build_conv2d(options));
            Operator op{.program = std::move(program),
                        .flops = flops(options),
                        .tolerance = tolerance_of(options.dtype),
                        .blocked = {{"output", options.oc}}};
            if (!options.reads_nchw()) op.blocked.push_back({"data", options.ic});
            return op;
          }};
}

}  // namespace attune::ops
