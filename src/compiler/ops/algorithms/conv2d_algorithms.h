// Other ways to compute a convolution, each an equivalent program with its own tolerance. A new one
// is its own file and one line in conv2d_algorithms().
#pragma once

#include <span>

#include "compiler/ops/forms/conv2d.h"

namespace attune::ops {

struct Conv2dAlgorithm {
  std::string name;
  std::string needs;  // what applies() asks for, in words
  bool (*applies)(const Conv2dOptions& options);
  Result<AlgorithmDef> (*build)(const Conv2dOptions& options);
};

std::span<const Conv2dAlgorithm> conv2d_algorithms();

// The alternatives to the direct form that `algo` allows: all that apply for "auto", none for
// "direct", otherwise the one named, or an error that says what it needs.
Result<std::vector<AlgorithmDef>> build_alternatives(const Conv2dOptions& options,
                                                     const std::string& algo);

}  // namespace attune::ops
