// Which of an operator's algorithms are built: those that a word of the user's allows and that
// apply to the case at hand.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ops/operator.h"

namespace attune::ops {

// All that apply for "auto", none for "direct", otherwise the one named, or an error that says what
// it needs. `algorithms` have a name, say what they need, whether they apply, and build.
template <typename Algorithms, typename Options>
Result<std::vector<AlgorithmDef>> build_those_that_apply(const Algorithms& algorithms,
                                                         const Options& options,
                                                         const std::string& algo) {
  std::vector<AlgorithmDef> built;
  for (const auto& algorithm : algorithms) {
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
