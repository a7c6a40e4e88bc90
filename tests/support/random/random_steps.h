// Random schedule steps: most are legal, some are not, some are nonsense.
#pragma once

#include "base/rng.h"
#include "compiler/schedule/trace.h"

namespace attune::test {

schedule::Step random_step(Rng& rng, const schedule::State& state);

// What lowering the state would cost: iterations to run, and copies of innermost statements that
// unrolling and vectorising write out. Nothing when its bounds cannot be inferred.
struct Cost {
  double iterations = 0;
  double copies = 0;
};
Result<Cost> cost_of(const schedule::State& state);

}  // namespace attune::test
