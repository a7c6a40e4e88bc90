// Random products and windows whose operands are fetched ahead, made so that most of them are
// legal: tiles, threads, buffers, widths of copies and layouts vary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"

namespace attune::test {

struct PipelineCase {
  std::string program, trace;
};
PipelineCase random_pipeline(Rng& rng);

struct PipelineCounts {
  std::int64_t agreed = 0;
  std::int64_t asynchronous = 0;  // of these, with asynchronous copies
  std::int64_t staged = 0;        // of these, with copies through registers
  std::vector<std::string> failures;
};
// Cases from `seed` on, each made from its seed alone, until `wanted` agreed or something failed.
PipelineCounts compare_random_pipelines(std::uint64_t seed, std::int64_t wanted);

}  // namespace attune::test
