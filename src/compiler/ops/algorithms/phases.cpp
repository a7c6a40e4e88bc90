#include "compiler/ops/algorithms/phases.h"

#include "compiler/ops/operator.h"

namespace attune::ops {

ir::Expr Phases::offset(const ir::Expr& phase) const {
  if (lead == 0) return 0;
  if (count == 2) return phase;
  return (phase + ir::Expr(lead)) / ir::Expr(count);
}

ir::Expr Phases::kernel_tap(const ir::Expr& phase, const ir::Expr& tap) const {
  const ir::Expr from_end = ir::Expr(taps - 1) - tap;
  if (count == 1) return from_end;
  const ir::Expr first = lead == 0 ? phase : (phase + ir::Expr(lead)) % ir::Expr(count);
  return from_end * ir::Expr(count) + first;
}

Phases phases_of(const Window& window, std::int64_t positions) {
  Phases phases{.count = window.stride,
                .places = ceil_div(positions, window.stride),
                .taps = ceil_div(window.kernel, window.stride),
                .lead = window.pad_before % window.stride};
  phases.before = phases.taps - 1 - window.pad_before / window.stride;
  phases.after =
      phases.places - 1 + phases.largest_offset() + phases.taps - window.size - phases.before;
  return phases;
}

PhasePair phases_of(const Conv2dTransposeOptions& options) {
  return {phases_of(options.h, options.output_h()), phases_of(options.w, options.output_w())};
}

bool has_phases(const Conv2dTransposeOptions& options) {
  return options.h.dilation == 1 && options.w.dilation == 1 &&
         (options.h.stride > 1 || options.w.stride > 1);
}

TransposeInputs add_transpose_inputs(ir::Program& program, const Conv2dTransposeOptions& options) {
  const Channels channels = options.channels();
  return {ir::add_input(
              program, "data", options.dtype,
              {options.n, channels.ic_blocks(), options.h.size, options.w.size, options.block}),
          ir::add_input(program, "weight", options.dtype,
                        {options.ic, channels.oc_per_group(), options.h.kernel, options.w.kernel},
                        true)};
}

ir::Expr weight_at(const Conv2dTransposeOptions& options, const ir::Buffer& weight,
                   const std::vector<ir::Expr>& out_in_row_column) {
  const Channels channels = options.channels();
  const ir::Expr& out = out_in_row_column[0];
  const ir::Expr& in = out_in_row_column[1];
  const ir::Expr& row = out_in_row_column[2];
  const ir::Expr& column = out_in_row_column[3];
  if (channels.groups == 1) return ir::load(weight, {in, out, row, column});
  const ir::Expr per_group = channels.oc_per_group();
  return ir::load(weight, {out / per_group * ir::Expr(channels.ic_per_group()) + in,
                           out % per_group, row, column});
}

ir::Buffer add_phase_filter(ir::Program& program, const Conv2dTransposeOptions& options,
                            const ir::Buffer& weight) {
  const PhasePair phases = phases_of(options);
  const Channels channels = options.channels();
  const ChannelCut cut = cut_channels(channels);
  const std::vector<ir::Axis> axes{{"oc", channels.oc_blocks() * channels.block},
                                   {"ic", cut.blocks * cut.lanes},
                                   {"ph", phases.h.count},
                                   {"pw", phases.w.count},
                                   {"kh", phases.h.taps},
                                   {"kw", phases.w.taps}};
  const ir::Expr row = phases.h.kernel_tap(ir::var("ph"), ir::var("kh"));
  const ir::Expr column = phases.w.kernel_tap(ir::var("pw"), ir::var("kw"));
  ir::Expr value = weight_at(options, weight, {ir::var("oc"), ir::var("ic"), row, column});
  const auto within = [&](const ir::Expr& index, std::int64_t extent, std::int64_t real) {
    if (extent == real) return;
    value = ir::select(index < ir::Expr(real), value, ir::zero_of(options.dtype));
  };
  within(ir::var("oc"), axes[0].extent, channels.oc);
  within(ir::var("ic"), axes[1].extent, channels.ic_per_group());
  within(row, phases.h.taps * phases.h.count, options.h.kernel);
  within(column, phases.w.taps * phases.w.count, options.w.kernel);
  return ir::add_compute(program, "filter", axes, value);
}

ir::Buffer add_phase_border(ir::Program& program, const Conv2dTransposeOptions& options,
                            const ir::Buffer& data, const Border& extra) {
  const PhasePair phases = phases_of(options);
  const Border border{phases.h.before + extra.top, phases.h.after + extra.bottom,
                      phases.w.before + extra.left, phases.w.after + extra.right};
  return add_border(program, data, {"n", "ic", "ih", "iw", "ib"}, border,
                    ir::zero_of(options.dtype));
}

std::vector<ir::Axis> transpose_output_axes(const Conv2dTransposeOptions& options) {
  return {{"n", options.n},
          {"oc", options.channels().oc_blocks()},
          {"oh", options.output_h()},
          {"ow", options.output_w()},
          {"ob", options.block}};
}

}  // namespace attune::ops
