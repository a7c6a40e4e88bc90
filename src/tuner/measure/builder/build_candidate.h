// Building one candidate: replay its trace, lower, generate code. A candidate that cannot be built
// is a result like any other; its reason begins with the step that failed: "replay: ", "lower: ",
// "size: ", "codegen: " or "spills: ". One that took too long has timed out.
#pragma once

#include <cstdint>

#include "compiler/ir/stmt.h"
#include "compiler/ir/target.h"
#include "tuner/measure/builder/prepare_cache.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

// What is not worth building or running; negative: no limit.
struct Limits {
  int vector_spills = 64;             // in innermost loops
  std::int64_t expressions = 60'000;  // of the lowered kernel: more take a second to compile
};

// `target` must be resolved.
measure::BuiltCandidate build_candidate(const measure::BuildRequest& request,
                                        const ir::Target& target, const Limits& limits,
                                        PrepareCache& prepared);

}  // namespace attune::builder
