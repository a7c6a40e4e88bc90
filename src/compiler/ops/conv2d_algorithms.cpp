#include "compiler/ops/conv2d_algorithms.h"

#include <fmt/format.h>

#include "compiler/ops/conv2d_gemm.h"
#include "compiler/ops/winograd.h"

namespace attune::ops {

std::span<const Conv2dAlgorithm> conv2d_algorithms() {
  static const std::vector<Conv2dAlgorithm> all{
      winograd_algorithm<2>(),
      winograd_algorithm<4>(),
      winograd_algorithm<6>(),
      conv2d_gemm_algorithm(),
  };
  return all;
}

Result<std::vector<AlgorithmDef>> build_alternatives(const Conv2dOptions& options,
                                                     const std::string& algo) {
  std::vector<AlgorithmDef> built;
  for (const Conv2dAlgorithm& algorithm : conv2d_algorithms()) {
    if (algo != "auto" && algo != algorithm.name) continue;
    if (!algorithm.applies(options)) {
      if (algo == "auto") continue;
      return invalid(fmt::format("algo={} needs {}", algo, algorithm.needs),
                     "choose algo=auto or algo=direct");
    }
    auto definition = algorithm.build(options);
    if (definition.ok()) {
      built.push_back(std::move(definition).value());
    } else if (algo != "auto") {
      return std::move(definition).error();
    }
  }
  return built;
}

}  // namespace attune::ops
