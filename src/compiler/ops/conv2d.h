// Two-dimensional convolution of blocked activations, [n, ceil(ic / B), h, w, B], with constant
// weights [oc, ic / groups, kh, kw]; the output is blocked too. An input of at most four channels
// (the first layer of a network) is read as [n, ic, h, w].
//
// The anchor has the axes n, oc (blocks), oh, ow, ob (lane of a block) and the reductions ic
// (blocks), kh, kw, ib (channel within the block); with an NCHW input ic counts channels and there
// is no ib.
#pragma once

#include "compiler/ops/family.h"
#include "compiler/ops/window.h"

namespace attune::ops {

struct Conv2dOptions {
  std::int64_t n = 1, ic = 1, oc = 1, groups = 1;
  Window h, w;
  std::int64_t block = 8;
  ir::DType dtype = ir::kF32;

  std::int64_t ic_per_group() const { return ic / groups; }
  std::int64_t oc_per_group() const { return oc / groups; }
  bool reads_nchw() const { return ic <= 4 && groups == 1; }
  std::int64_t oc_blocks() const { return ceil_div(oc, block); }
};

// How the input channels of a group are cut for the reduction: `blocks` of `lanes`. Without groups
// the last block may reach beyond the channels; there the filter is zero.
struct ChannelCut {
  std::int64_t blocks, lanes;
};
ChannelCut channel_cut(const Conv2dOptions& options);

Status validate(const Conv2dOptions& options);
double flops(const Conv2dOptions& options);
Result<ir::Program> build_conv2d(const Conv2dOptions& options);
// Options from the keys that conv2d and conv2d_transpose share.
Conv2dOptions conv2d_options(const Arguments& arguments);

// The parts that other algorithms of the same convolution share. The parameters `data` and
// `weight`:
struct Conv2dInputs {
  ir::Buffer data, weight;
};
Conv2dInputs add_conv2d_inputs(ir::Program& program, const Conv2dOptions& options);
// The stage `filter`, [oc and ic rounded up to whole blocks, kh, kw].
ir::Buffer add_conv2d_filter(ir::Program& program, const Conv2dOptions& options,
                             const ir::Buffer& weight);
// The axes n, oc, oh, ow, ob of the output.
std::vector<ir::Axis> conv2d_output_axes(const Conv2dOptions& options);
// The axis names of the stage `pad`.
std::vector<std::string> conv2d_input_names(const Conv2dOptions& options);

Family conv2d_family();

}  // namespace attune::ops
