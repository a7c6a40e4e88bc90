// What the stages of a launch ask of a device, block by block: instructions that warps issue, words
// of shared memory, bytes of global memory in whole sectors, and how often a block waits.
#pragma once

#include <vector>

#include "compiler/target/launch_facts.h"
#include "tuner/space/launch_shape.h"
#include "tuner/space/nest.h"

namespace attune::cost_model {

// Of one block.
struct BlockWork {
  double instructions = 0;   // of warps, all that are issued
  double longest = 0;        // those of one warp
  double matrix_cycles = 0;  // in which its matrix units are busy
  double shared_cycles = 0;  // in which shared memory is busy
  double global_bytes = 0;   // read and written, with what sectors bring along
  double waits = 0;          // for global memory, one after the other
  double barriers = 0;
  double awaited_bytes = 0;  // of these, what nothing is computed beside
  // Fetches that run beside what the block computes, and how many of them are on their way at once.
  double fetches = 0, ahead = 0;
};

struct LaunchWork {
  space::LaunchShape shape;
  BlockWork block;
  double tensor_bytes = 0;  // of global memory that it reads or writes at all
  bool ahead = false;       // computed before the program ever runs
};

// One for each launch, in order.
std::vector<LaunchWork> launch_works(const schedule::State& state,
                                     const std::vector<schedule::StageBounds>& bounds,
                                     const target::LaunchFacts& device);

}  // namespace attune::cost_model
