// The loops around a stage of a launch, by what they are bound to.
#pragma once

#include <string>
#include <vector>

#include "tuner/space/nest.h"

namespace attune::cost_model {

// Computed by the threads of a block together.
bool is_shared(const schedule::StageState& stage);

// The hardware axis of every level of a nest, "" for those that are no bound loops. The first `own`
// levels are loops of the stages around it.
std::vector<std::string> axes_of_levels(const schedule::State& state, std::size_t index,
                                        std::size_t own);

}  // namespace attune::cost_model
