// Building one candidate: replay its trace, lower, generate code. A candidate that cannot be built
// is a result like any other; its reason begins with the step that failed: "replay: ", "lower: ",
// "size: ", "codegen: " or "spills: ". One that took too long has timed out.
#pragma once

#include <cstdint>

#include "compiler/kernel/kernel.h"
#include "compiler/target/target.h"
#include "tuner/measure/builder/prepare_cache.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

// What candidates may be unless they are asked for whatever it costs.
inline constexpr kernel::Limits kLimits = kernel::kUsualLimits;

// `target` must be resolved.
measure::BuiltCandidate build_candidate(const measure::BuildRequest& request,
                                        const target::Target& target, const kernel::Limits& limits,
                                        PrepareCache& prepared);

}  // namespace attune::builder
