#include "compiler/ops/algorithms/conv2d_transpose_algorithms.h"

#include "compiler/ops/algorithms/packed_transpose.h"
#include "compiler/ops/algorithms/select_algorithms.h"
#include "compiler/ops/algorithms/transpose_gemm.h"
#include "compiler/ops/algorithms/winograd_stages.h"
#include "compiler/ops/algorithms/winograd_transpose.h"

namespace attune::ops {
namespace {

template <int m>
Conv2dTransposeAlgorithm winograd() {
  return {
      "winograd" + std::to_string(m),
      "a stride and no dilation, as many taps in both dimensions, one group, outputs for a "
      "whole tile and floating-point elements",
      [](const Conv2dTransposeOptions& options) { return winograd_transpose_applies(options, m); },
      [](const Conv2dTransposeOptions& options) -> Result<AlgorithmDef> {
        ATTUNE_ASSIGN(ir::Program program, build_winograd_transpose(options, m));
        return AlgorithmDef{"winograd" + std::to_string(m), std::move(program),
                            winograd_tolerance(m, options.dtype), true};
      }};
}

template <int m>
Conv2dTransposeAlgorithm packed() {
  return {
      "packed" + std::to_string(m),
      "a stride and no dilation, windows of the same size in both dimensions, one group, "
      "channels for half a block at most, outputs for a whole tile and floating-point elements",
      [](const Conv2dTransposeOptions& options) { return packed_transpose_applies(options, m); },
      [](const Conv2dTransposeOptions& options) -> Result<AlgorithmDef> {
        ATTUNE_ASSIGN(ir::Program program, build_packed_transpose(options, m));
        return AlgorithmDef{"packed" + std::to_string(m), std::move(program),
                            winograd_tolerance(m, options.dtype), true};
      }};
}

}  // namespace

std::span<const Conv2dTransposeAlgorithm> conv2d_transpose_algorithms() {
  static const std::vector<Conv2dTransposeAlgorithm> all{
      winograd<2>(), winograd<3>(), winograd<4>(),
      packed<2>(),   packed<4>(),   transpose_gemm_algorithm(),
  };
  return all;
}

Result<std::vector<AlgorithmDef>> build_alternatives(const Conv2dTransposeOptions& options,
                                                     const std::string& algo) {
  return build_those_that_apply(conv2d_transpose_algorithms(), options, algo);
}

}  // namespace attune::ops
