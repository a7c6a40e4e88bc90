// A strided convolution as one of stride 1: input positions of the same phase (position modulo
// stride) become channels of their own, as many as the stride has phases, and of the taps every
// stride-th one is left. The folded input is the stage `pad`, border and all.
//
// Blocked channels keep their lanes: block phase * blocks + b of the folded input is block b in
// that phase, [n, ic, ih, iw, ib]. An NCHW input has its channels as blocks and the phases as
// lanes, [n, ic, ih, iw, ph, pw].
#pragma once

#include "compiler/ops/forms/conv2d.h"

namespace attune::ops {

// Whether it has a stride that can be folded away, with as many taps in both dimensions.
bool folds(const Conv2dOptions& options);
// Of one dimension, after folding.
std::int64_t folded_taps(const Conv2dOptions& options);
// The folded input channels.
ChannelCut folded_cut(const Conv2dOptions& options);

// The stage `filter`, [oc, ic, kh, kw] over folded channels and taps; output channels are rounded
// up to whole blocks.
ir::Buffer add_folded_filter(ir::Program& program, const Conv2dOptions& options,
                             const ir::Buffer& weight);
// The stage `pad`: what `rows` x `columns` windows read.
ir::Buffer add_folded_input(ir::Program& program, const Conv2dOptions& options,
                            const ir::Buffer& data, std::int64_t rows, std::int64_t columns);

}  // namespace attune::ops
