#include "compiler/ops/conv2d_transpose.h"

#include <fmt/format.h>

#include "compiler/ops/conv2d.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

// One spatial dimension of the gather: the output position o meets tap k at input row
// (o + pad - k * dilation) / stride, where that is a whole number.
struct Taps {
  std::int64_t count;       // extent of the reduction
  std::int64_t filter;      // extent of the filter
  ir::Expr row;             // of the padded input
  ir::Expr filter_row;      // of the filter
  ir::Expr meets;           // whether the tap meets the position at all; empty when always
  std::int64_t before = 0;  // border of the padded input
  std::int64_t after = 0;
  std::int64_t shift = 0;  // position o is place (o + shift) / phases of phase (o + shift) % phases
  std::int64_t phases = 1;  // positions that meet different taps
  std::int64_t places = 0;  // of each phase
};

// Without dilation the taps that meet position o = y * stride + phase - shift are
// k = t * stride + phase: each phase is a convolution by itself.
Taps phased_taps(const Window& window, std::int64_t positions, const ir::Expr& y,
                 const ir::Expr& phase, const ir::Expr& t) {
  const std::int64_t stride = window.stride;
  const std::int64_t count = ceil_div(window.kernel, stride);
  Taps taps{.count = count, .filter = count * stride, .row = {}, .filter_row = t, .meets = {}};
  taps.shift = window.pad_before % stride;
  taps.phases = stride;
  taps.places = (positions - 1 + taps.shift) / stride + 1;
  taps.row = y + (ir::Expr(count - 1) - t);
  if (stride != 1) taps.filter_row = t * ir::Expr(stride) + phase;
  taps.before = count - 1 - window.pad_before / stride;
  taps.after = taps.places - 1 + count - window.size - taps.before;
  return taps;
}

// With dilation all taps are visited.
Taps all_taps(const Window& window, std::int64_t positions, const ir::Expr& o, const ir::Expr& k) {
  const std::int64_t stride = window.stride;
  const std::int64_t first = window.pad_before - (window.kernel - 1) * window.dilation;
  Taps taps{
      .count = window.kernel, .filter = window.kernel, .row = {}, .filter_row = k, .meets = {}};
  taps.places = positions;
  taps.before = -ir::floor_div(first, stride);
  taps.after = (positions - 1 + window.pad_before) / stride + 1 - window.size;
  // Shifted by whole strides so that it is never negative.
  const ir::Expr position =
      o + ir::Expr(window.pad_before + taps.before * stride) - k * ir::Expr(window.dilation);
  taps.row = stride == 1 ? position : position / ir::Expr(stride);
  if (stride != 1) taps.meets = position % ir::Expr(stride) == ir::Expr(0);
  return taps;
}

// Whether the anchor has phases as axes of their own.
bool has_phases(const Conv2dTransposeOptions& options) {
  return options.h.dilation == 1 && options.w.dilation == 1 &&
         (options.h.stride > 1 || options.w.stride > 1);
}

Taps taps_of(const Window& window, std::int64_t positions, bool phased, const char* place,
             const char* phase, const char* k) {
  return window.dilation == 1 && (phased || window.stride == 1)
             ? phased_taps(window, positions, ir::var(place), ir::var(phase), ir::var(k))
             : all_taps(window, positions, ir::var(place), ir::var(k));
}

ir::Buffer add_filter(ir::Program& program, const Conv2dTransposeOptions& options,
                      const ir::Buffer& weight, std::int64_t rows, std::int64_t columns) {
  const Channels channels = options.channels();
  const ChannelCut cut = cut_channels(channels);
  const std::vector<ir::Axis> axes{{"oc", channels.oc_blocks() * channels.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"kh", rows},
                                   {"kw", columns}};
  const ir::Expr per_group = channels.oc_per_group();
  std::vector<ir::Expr> index = index_of(axes);
  ir::Expr value;
  if (channels.groups == 1) {
    value = ir::load(weight, {index[1], index[0], index[2], index[3]});
  } else {
    const ir::Expr in = index[0] / per_group * ir::Expr(channels.ic_per_group()) + index[1];
    value = ir::load(weight, {in, index[0] % per_group, index[2], index[3]});
  }
  const std::int64_t real[] = {channels.oc, channels.ic_per_group(), options.h.kernel,
                               options.w.kernel};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].extent == real[i]) continue;
    value = ir::select(index[i] < ir::Expr(real[i]), value, ir::zero_of(options.dtype));
  }
  return ir::add_compute(program, "filter", axes, value);
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
  const Channels channels = options.channels();
  const ChannelCut cut = cut_channels(channels);
  const bool phased = has_phases(options);
  const char* const y = phased ? "y" : "oh";
  const char* const x = phased ? "x" : "ow";
  const Taps rows = taps_of(options.h, options.output_h(), phased, y, "ph", "kh");
  const Taps columns = taps_of(options.w, options.output_w(), phased, x, "pw", "kw");

  ir::Program program{"conv2d_transpose", {}, {}, {}};
  const ir::Buffer data = ir::add_input(
      program, "data", options.dtype,
      {options.n, channels.ic_blocks(), options.h.size, options.w.size, options.block});
  const ir::Buffer weight = ir::add_input(
      program, "weight", options.dtype,
      {options.ic, channels.oc_per_group(), options.h.kernel, options.w.kernel}, true);
  const ir::Buffer filter = add_filter(program, options, weight, rows.filter, columns.filter);
  const ir::Buffer input = add_border(program, data, {"n", "ic", "ih", "iw", "ib"},
                                      {rows.before, rows.after, columns.before, columns.after},
                                      ir::zero_of(options.dtype));

  const std::vector<ir::Expr> channel = channel_index(channels);
  ir::Expr element = ir::load(input, {ir::var("n"), channel[0], rows.row, columns.row, channel[1]});
  for (const ir::Expr& meets : {columns.meets, rows.meets}) {
    if (meets) element = ir::select(meets, element, ir::zero_of(options.dtype));
  }
  const ir::Expr out = ir::var("oc") * ir::Expr(options.block) + ir::var("ob");
  const ir::Expr in = ir::var("ic") * ir::Expr(cut.lanes) + ir::var("ib");
  const ir::Expr value =
      product(element, ir::load(filter, {out, in, rows.filter_row, columns.filter_row}));

  const std::vector<ir::Axis> axes{{"n", options.n},
                                   {"oc", channels.oc_blocks()},
                                   {"oh", options.output_h()},
                                   {"ow", options.output_w()},
                                   {"ob", options.block}};
  const std::vector<ir::Axis> places{axes[0],
                                     axes[1],
                                     {"ph", rows.phases},
                                     {"pw", columns.phases},
                                     {"y", rows.places},
                                     {"x", columns.places},
                                     axes[4]};
  const ir::Buffer anchor = ir::add_reduce(
      program, "anchor", phased ? places : axes,
      {{"ic", cut.blocks}, {"kh", rows.count}, {"kw", columns.count}, {"ib", cut.lanes}},
      ir::Reduction::Sum, value);
  if (phased) {
    const auto shifted = [](const ir::Axis& axis, const Taps& taps) {
      return taps.shift == 0 ? ir::axis_var(axis) : ir::axis_var(axis) + ir::Expr(taps.shift);
    };
    const ir::Expr row = shifted(axes[2], rows), column = shifted(axes[3], columns);
    const ir::Expr height = rows.phases, width = columns.phases;
    const ir::Expr result =
        ir::load(anchor, {ir::var("n"), ir::var("oc"), row % height, column % width, row / height,
                          column / width, ir::var("ob")});
    program.outputs = {
        ir::add_compute(program, "output", axes, ir::cast(result_of(options.dtype), result))};
  } else {
    add_output(program, anchor, axes, result_of(options.dtype));
  }
  return check_memory(std::move(program));
}

Family conv2d_transpose_family() {
  return {"conv2d_transpose", conv2d_keys(), [](const Arguments& arguments) -> Result<Operator> {
            const Conv2dOptions conv = conv2d_options(arguments);
            const Conv2dTransposeOptions options{.n = conv.n,
                                                 .ic = conv.ic,
                                                 .oc = conv.oc,
                                                 .groups = conv.groups,
                                                 .h = conv.h,
                                                 .w = conv.w,
                                                 .block = conv.block,
                                                 .dtype = conv.dtype};
            ATTUNE_ASSIGN(ir::Program program, build_conv2d_transpose(options));
            return Operator{.program = std::move(program),
                            .flops = flops(options),
                            .tolerance = tolerance_of(options.dtype),
                            .blocked = {{"data", options.ic}, {"output", options.oc}}};
          }};
}

}  // namespace attune::ops
