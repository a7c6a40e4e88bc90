// Two-dimensional convolution of blocked activations, [n, ceil(ic / B), h, w, B], with constant
// weights [oc, ic / groups, kh, kw]; the output is blocked too. An input of at most four channels
// (the first layer of a network) is read as [n, ic, h, w].
//
// The anchor has the axes n, oc (blocks), oh, ow, ob (lane of a block) and the reductions ic
// (blocks), kh, kw, ib (channel within the block); with an NCHW input ic counts channels and there
// is no ib.
#pragma once

#include "compiler/ops/forms/channels.h"
#include "compiler/ops/forms/family.h"
#include "compiler/ops/window.h"

namespace attune::ops {

struct Conv2dOptions {
  std::int64_t n = 1, ic = 1, oc = 1, groups = 1;
  Window h, w;
  std::int64_t block = 8;
  ir::DType dtype = ir::kF32;

  Channels channels() const { return {ic, oc, groups, block}; }
  bool reads_nchw() const { return ic <= 4 && groups == 1; }
  // Input channels of a group for the reduction; single ones with an NCHW input.
  ChannelCut cut() const { return reads_nchw() ? ChannelCut{ic, 1} : cut_channels(channels()); }
};

Status validate(const Conv2dOptions& options);
double flops(const Conv2dOptions& options);
Result<ir::Program> build_conv2d(const Conv2dOptions& options);
// The keys that conv2d and conv2d_transpose share, and options from them.
std::vector<Key> conv2d_keys();
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
// The input with its border, as the stage `pad` where there is one; `extra` adds to the border.
ir::Buffer add_conv2d_pad(ir::Program& program, const Conv2dOptions& options,
                          const ir::Buffer& data, const Border& extra = {});
// The stages `anchor` and `output` of the direct form.
void add_conv2d_products(ir::Program& program, const Conv2dOptions& options,
                         const ir::Buffer& input, const ir::Buffer& filter);

}  // namespace attune::ops
