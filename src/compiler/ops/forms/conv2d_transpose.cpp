#include "compiler/ops/forms/conv2d_transpose.h"

#include <fmt/format.h>

#include "compiler/ops/algorithms/conv2d_transpose_algorithms.h"
#include "compiler/ops/algorithms/phases.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/forms/conv2d.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

// One spatial dimension of the gather: the output position o meets tap k at input row
// (o + pad - k * dilation) / stride, where that is a whole number.
struct Taps {
  std::int64_t count;       // extent of the reduction and of the filter
  ir::Expr row;             // of the padded input
  ir::Expr filter_row;      // of the filter
  ir::Expr meets;           // whether the tap meets the position at all; empty when always
  std::int64_t before = 0;  // border of the padded input
  std::int64_t after = 0;
};

Taps taps_of(const Window& window, std::int64_t positions, const char* position, const char* tap) {
  const std::int64_t stride = window.stride;
  const std::int64_t first = window.pad_before - (window.kernel - 1) * window.dilation;
  const ir::Expr k = ir::var(tap);
  Taps taps{.count = window.kernel, .row = {}, .filter_row = k, .meets = {}};
  taps.before = -ir::floor_div(first, stride);
  taps.after = (positions - 1 + window.pad_before) / stride + 1 - window.size;
  // Shifted by whole strides so that it is never negative.
  const ir::Expr at = ir::var(position) + ir::Expr(window.pad_before + taps.before * stride) -
                      k * ir::Expr(window.dilation);
  taps.row = stride == 1 ? at : at / ir::Expr(stride);
  if (stride != 1) taps.meets = at % ir::Expr(stride) == ir::Expr(0);
  return taps;
}

ir::Buffer add_filter(ir::Program& program, const Conv2dTransposeOptions& options,
                      const ir::Buffer& weight) {
  const Channels channels = options.channels();
  const ChannelCut cut = cut_channels(channels);
  const std::vector<ir::Axis> axes{{"oc", channels.oc_blocks() * channels.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"kh", options.h.kernel},
                                   {"kw", options.w.kernel}};
  const std::vector<ir::Expr> index = index_of(axes);
  ir::Expr value = weight_at(options, weight, index);
  const std::int64_t real[] = {channels.oc, channels.ic_per_group()};
  for (std::size_t i = 0; i < 2; ++i) {
    if (axes[i].extent == real[i]) continue;
    value = ir::select(index[i] < ir::Expr(real[i]), value, ir::zero_of(options.dtype));
  }
  return ir::add_compute(program, "filter", axes, value);
}

// All taps are visited; those that do not meet a position read zero.
void add_gather(ir::Program& program, const Conv2dTransposeOptions& options) {
  const Channels channels = options.channels();
  const ChannelCut cut = cut_channels(channels);
  const Taps rows = taps_of(options.h, options.output_h(), "oh", "kh");
  const Taps columns = taps_of(options.w, options.output_w(), "ow", "kw");
  const TransposeInputs inputs = add_transpose_inputs(program, options);
  const ir::Buffer filter = add_filter(program, options, inputs.weight);
  const ir::Buffer input = add_border(program, inputs.data, {"n", "ic", "ih", "iw", "ib"},
                                      {rows.before, rows.after, columns.before, columns.after},
                                      ir::zero_of(options.dtype));
  const std::vector<ir::Expr> channel = channel_index(channels);
  ir::Expr element = ir::load(input, {ir::var("n"), channel[0], rows.row, columns.row, channel[1]});
  for (const ir::Expr& meets : {columns.meets, rows.meets}) {
    if (meets) element = ir::select(meets, element, ir::zero_of(options.dtype));
  }
  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  const ir::Expr in = ir::var("ic") * ir::Expr(cut.lanes) + ir::var("ib");
  const std::vector<ir::Axis> axes = transpose_output_axes(options);
  const ir::Buffer anchor = ir::add_reduce(
      program, "anchor", axes,
      {{"ic", cut.blocks}, {"kh", rows.count}, {"kw", columns.count}, {"ib", cut.lanes}},
      ir::Reduction::Sum,
      product(element, ir::load(filter, {out, in, rows.filter_row, columns.filter_row})));
  add_output(program, anchor, axes, result_of(options.dtype));
}

void add_phases(ir::Program& program, const Conv2dTransposeOptions& options) {
  const Channels channels = options.channels();
  const ChannelCut cut = cut_channels(channels);
  const PhasePair phases = phases_of(options);
  const TransposeInputs inputs = add_transpose_inputs(program, options);
  const ir::Buffer filter = add_phase_filter(program, options, inputs.weight);
  const ir::Buffer input = add_phase_border(program, options, inputs.data);
  const ir::Expr ph = ir::var("ph"), pw = ir::var("pw");
  const ir::Expr kh = ir::var("kh"), kw = ir::var("kw");
  const std::vector<ir::Expr> channel = channel_index(channels);
  const ir::Expr element =
      ir::load(input, {ir::var("n"), channel[0], ir::var("y") + phases.h.offset(ph) + kh,
                       ir::var("x") + phases.w.offset(pw) + kw, channel[1]});
  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  const ir::Expr in = ir::var("ic") * ir::Expr(cut.lanes) + ir::var("ib");
  const std::vector<ir::Axis> axes = transpose_output_axes(options);
  const ir::Buffer anchor = ir::add_reduce(
      program, "anchor",
      {axes[0],
       axes[1],
       {"ph", phases.h.count},
       {"pw", phases.w.count},
       {"y", phases.h.places},
       {"x", phases.w.places},
       axes[4]},
      {{"ic", cut.blocks}, {"kh", phases.h.taps}, {"kw", phases.w.taps}, {"ib", cut.lanes}},
      ir::Reduction::Sum, product(element, ir::load(filter, {out, in, ph, pw, kh, kw})));
  const ir::Expr oh = ir::var("oh"), ow = ir::var("ow");
  const ir::Expr height = phases.h.count, width = phases.w.count;
  const ir::Expr result = ir::load(anchor, {ir::var("n"), ir::var("oc"), oh % height, ow % width,
                                            oh / height, ow / width, ir::var("ob")});
  program.outputs = {
      ir::add_compute(program, "output", axes, ir::cast(result_of(options.dtype), result))};
}

Status check_output(std::string_view name, std::int64_t size, const Window& window) {
  if (size >= 1) return check_size(name, size);
  return invalid(fmt::format("padding {}+{} leaves an output of size {}, must be at least 1",
                             window.pad_before, window.pad_after, size),
                 "choose less padding");
}

}  // namespace

Status validate(const Conv2dTransposeOptions& options) {
  const NamedSize sizes[] = {{"n", options.n},
                             {"output_pad", options.output_pad_h, 0},
                             {"output_pad", options.output_pad_w, 0}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  ATTUNE_RETURN_IF_ERROR(check_channels(options.channels()));
  ATTUNE_RETURN_IF_ERROR(check_window_sizes("h", "kh", options.h));
  ATTUNE_RETURN_IF_ERROR(check_window_sizes("w", "kw", options.w));
  ATTUNE_RETURN_IF_ERROR(check_output("the output height", options.output_h(), options.h));
  ATTUNE_RETURN_IF_ERROR(check_output("the output width", options.output_w(), options.w));
  return check_dtype("conv2d_transpose", options.dtype, kProductTypes);
}

double flops(const Conv2dTransposeOptions& options) {
  double count = 2;
  for (std::int64_t extent :
       {options.n, options.ic, options.h.size, options.w.size, options.channels().oc_per_group(),
        options.h.kernel, options.w.kernel}) {
    count *= static_cast<double>(extent);
  }
  return count;
}

Result<ir::Program> build_conv2d_transpose(const Conv2dTransposeOptions& options) {
  ATTUNE_RETURN_IF_ERROR(validate(options));
  ir::Program program{"conv2d_transpose", {}, {}, {}};
  if (has_phases(options)) {
    add_phases(program, options);
  } else {
    add_gather(program, options);
  }
  return check_memory(std::move(program));
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  const Conv2dOptions options = conv2d_options(arguments);
  SpecNode conv{
      "conv_transpose",
      {{.name = "data",
        .shape = {options.n, options.ic, options.h.size, options.w.size},
        .blocked = true},
       {.name = "weight",
        .shape = {options.ic, options.oc / options.groups, options.h.kernel, options.w.kernel},
        .constant = true}},
      window_attributes(options.h, options.w)};
  conv.attributes["group"] = options.groups;
  conv.attributes["output_padding"] =
      std::vector<std::int64_t>{arguments.number("output_pad"), arguments.number("output_pad_w")};
  return {{std::move(conv)}, true};
}

}  // namespace

Family conv2d_transpose_family() {
  std::vector<Key> keys = conv2d_keys();
  keys.push_back({"output_pad", KeyKind::Number, "0"});
  keys.push_back({"output_pad_w", KeyKind::Number, "=output_pad"});
  Key algo{"algo", KeyKind::Word, "auto", {"auto", "direct"}};
  for (const auto& algorithm : conv2d_transpose_algorithms()) algo.words.push_back(algorithm.name);
  keys.push_back(algo);
  return {"conv2d_transpose", keys,
          [](const Arguments& arguments) -> Result<Operator> {
            const Conv2dOptions conv = conv2d_options(arguments);
            const Conv2dTransposeOptions options{.n = conv.n,
                                                 .ic = conv.ic,
                                                 .oc = conv.oc,
                                                 .groups = conv.groups,
                                                 .h = conv.h,
                                                 .w = conv.w,
                                                 .output_pad_h = arguments.number("output_pad"),
                                                 .output_pad_w = arguments.number("output_pad_w"),
                                                 .block = conv.block,
                                                 .dtype = conv.dtype};
            ATTUNE_ASSIGN(ir::Program program, build_conv2d_transpose(options));
            ATTUNE_ASSIGN(std::vector<AlgorithmDef> alternatives,
                          build_alternatives(options, arguments.word("algo")));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = tolerance_of(options.dtype),
                            .blocked = {{"data", options.ic}, {"output", options.oc}},
                            .alternatives = std::move(alternatives)};
          },
          graph_of};
}

}  // namespace attune::ops
