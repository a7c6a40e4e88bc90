// The reference for verification: what the interpreter makes of the unscheduled program at sampled
// places of its outputs. A sample costs only what that element needs, so that large programs are no
// harder than small ones; small outputs are taken whole.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

// Places of an output to look at: all of them when there are at most `wanted`; else all corners,
// random places on every border, and random places inside, at most about `wanted`. No place twice.
std::vector<std::vector<std::int64_t>> sample_places(const std::vector<std::int64_t>& shape,
                                                     std::int64_t wanted, std::uint64_t seed);

Result<measure::Expectation> reference_of(const ir::Program& program, std::uint64_t seed);

}  // namespace attune::builder
