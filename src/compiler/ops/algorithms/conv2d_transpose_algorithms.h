// Other ways to compute a transposed convolution, each an equivalent program with its own
// tolerance. A new one is its own file and one line in conv2d_transpose_algorithms().
#pragma once

#include <span>

#include "compiler/ops/forms/conv2d_transpose.h"
#include "compiler/ops/operator.h"

namespace attune::ops {

struct Conv2dTransposeAlgorithm {
  std::string name;
  std::string needs;  // what applies() asks for, in words
  bool (*applies)(const Conv2dTransposeOptions& options);
  Result<AlgorithmDef> (*build)(const Conv2dTransposeOptions& options);
};

std::span<const Conv2dTransposeAlgorithm> conv2d_transpose_algorithms();

// As build_alternatives() of conv2d_algorithms.h.
Result<std::vector<AlgorithmDef>> build_alternatives(const Conv2dTransposeOptions& options,
                                                     const std::string& algo);

}  // namespace attune::ops
