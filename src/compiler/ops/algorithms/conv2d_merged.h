// Grouped convolution whose groups are parts of a block: as many groups as make whole blocks become
// one, with a filter that is zero where input and output belong to different groups. That
// multiplies the arithmetic by the number of groups merged, at most a block's, but all lanes of a
// block read the same input, instead of one from all over for each.
#pragma once

#include "compiler/ops/algorithms/conv2d_algorithms.h"

namespace attune::ops {

// How many groups make whole blocks of input and output channels; 1 when they are whole already,
// and when there is no such number that pays.
std::int64_t groups_to_merge(const Conv2dOptions& options);
Result<ir::Program> build_conv2d_merged(const Conv2dOptions& options);
Conv2dAlgorithm conv2d_merged_algorithm();

}  // namespace attune::ops
