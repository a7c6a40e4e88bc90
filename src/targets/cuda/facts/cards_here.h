// The CUDA cards of this machine, asked for in a child process: one that has started CUDA cannot
// fork any more, and programs run in forks of this one.
#pragma once

#include <vector>

#include "base/result.h"
#include "targets/cuda/device/card.h"

namespace attune::cuda {

// Asked for anew; an error says why there is none. The caller must have no other threads.
Result<std::vector<Card>> look_for_cards();

// What was found the first time.
Result<std::vector<Card>> cards_here();

}  // namespace attune::cuda
