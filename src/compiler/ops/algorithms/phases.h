// The phases of a transposed convolution without dilation. Output position o belongs to phase
// o % stride, as its place o / stride. All places of a phase meet the same taps, every stride-th
// one of the kernel, so each phase is a convolution of stride 1 by itself, with its own taps.
#pragma once

#include "compiler/ops/forms/conv2d_transpose.h"

namespace attune::ops {

// One spatial dimension.
struct Phases {
  std::int64_t count = 1;   // the stride
  std::int64_t places = 1;  // of each phase
  std::int64_t taps = 1;    // that a place meets
  std::int64_t lead = 0;    // tap `lead` is the first one that phase 0 meets
  std::int64_t before = 0;  // border of the input
  std::int64_t after = 0;

  // How much further into the input a phase begins than phase 0 does: 0 or 1.
  ir::Expr offset(const ir::Expr& phase) const;
  std::int64_t largest_offset() const { return (count - 1 + lead) / count; }
  // The tap of the kernel that `tap` of a phase stands for, taps in the order of input positions;
  // the kernel's own end is not minded.
  ir::Expr kernel_tap(const ir::Expr& phase, const ir::Expr& tap) const;
};

Phases phases_of(const Window& window, std::int64_t positions);

// Both dimensions.
struct PhasePair {
  Phases h, w;
};
PhasePair phases_of(const Conv2dTransposeOptions& options);
// Whether the phases are axes of their own: some stride, no dilation.
bool has_phases(const Conv2dTransposeOptions& options);

// The parameters `data` and `weight`.
struct TransposeInputs {
  ir::Buffer data, weight;
};
TransposeInputs add_transpose_inputs(ir::Program& program, const Conv2dTransposeOptions& options);
// weight[in, out, row, column] as the filter of output channel `out` and channel `in` of its group;
// zero where one of them lies beyond the weights.
ir::Expr weight_at(const Conv2dTransposeOptions& options, const ir::Buffer& weight,
                   const std::vector<ir::Expr>& out_in_row_column);
// The stage `filter`, [oc, ic, ph, pw, kh, kw], channels rounded up to whole blocks.
ir::Buffer add_phase_filter(ir::Program& program, const Conv2dTransposeOptions& options,
                            const ir::Buffer& weight);
// The input with its border; `extra` adds to it.
ir::Buffer add_phase_border(ir::Program& program, const Conv2dTransposeOptions& options,
                            const ir::Buffer& data, const Border& extra = {});
// The axes n, oc, oh, ow, ob of the output.
std::vector<ir::Axis> transpose_output_axes(const Conv2dTransposeOptions& options);

}  // namespace attune::ops
