// What calls of matrix instructions ask of a device.
#pragma once

#include "tuner/cost_model/launches/launch_work.h"

namespace attune::cost_model {

// Adds those of a stage that the lanes of warps compute together; false when it is no such stage. A
// thread runs its loops `serial` times in all, `threads` of a block do.
bool add_matrix_calls(const schedule::StageState& stage, const space::StageNest& nest,
                      double serial, double threads, const target::LaunchFacts& device,
                      BlockWork& work);

}  // namespace attune::cost_model
