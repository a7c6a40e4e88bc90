#include "compiler/ops/algorithms/conv2d_algorithms.h"

#include "compiler/ops/algorithms/conv2d_gemm.h"
#include "compiler/ops/algorithms/conv2d_merged.h"
#include "compiler/ops/algorithms/conv2d_strassen.h"
#include "compiler/ops/algorithms/select_algorithms.h"
#include "compiler/ops/algorithms/winograd.h"

namespace attune::ops {

std::span<const Conv2dAlgorithm> conv2d_algorithms() {
  static const std::vector<Conv2dAlgorithm> all{
      winograd_algorithm<2>(),     winograd_algorithm<3>(), winograd_algorithm<4>(),
      winograd_algorithm<6>(),     conv2d_gemm_algorithm(), conv2d_merged_algorithm(),
      conv2d_strassen_algorithm(),
  };
  return all;
}

Result<std::vector<AlgorithmDef>> build_alternatives(const Conv2dOptions& options,
                                                     const std::string& algo) {
  return build_those_that_apply(conv2d_algorithms(), options, algo);
}

}  // namespace attune::ops
