// Channels of convolutions: how input channels are cut for the reduction, and where the channels of
// a group lie in a blocked activation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/expr.h"

namespace attune::ops {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

struct Channels {
  std::int64_t ic = 1, oc = 1, groups = 1, block = 8;

  std::int64_t ic_per_group() const { return ic / groups; }
  std::int64_t oc_per_group() const { return oc / groups; }
  std::int64_t ic_blocks() const { return ceil_div(ic, block); }
  std::int64_t oc_blocks() const { return ceil_div(oc, block); }
};

// Sizes in range, and groups divide the channels.
Status check_channels(const Channels& channels);

// The input channels of a group as `blocks` of `lanes`. Without groups the last block may reach
// beyond the channels; there the filter is zero.
struct ChannelCut {
  std::int64_t blocks, lanes;
};
ChannelCut cut_channels(const Channels& channels);

// Where an anchor with the axes oc, ob and the reductions ic, ib finds its input channel: the
// indices of the dimensions c and B of a blocked activation.
std::vector<ir::Expr> channel_index(const Channels& channels);

}  // namespace attune::ops
