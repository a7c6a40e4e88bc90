// Convolution with a kernel of one tap as a product of matrices, pixels x input channels times
// input x output channels, by Strassen's seven products (algorithms/strassen.h). An odd pixel out
// is paired with zeros.
#pragma once

#include "compiler/ops/algorithms/conv2d_algorithms.h"

namespace attune::ops {

Conv2dAlgorithm conv2d_strassen_algorithm();

}  // namespace attune::ops
