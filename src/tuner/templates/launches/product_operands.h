// How the two operands of a product come to the threads that multiply them: through shared memory,
// fetched together in vectors where they lie so, and from there into registers.
#pragma once

#include "tuner/templates/launches/product_schedule.h"

namespace attune::templates {

// Where operands are wanted: the stage that multiplies, its loop over slabs, and the loop inside of
// which a thread's registers hold them.
struct OperandPlace {
  std::string reader;
  std::string slab_loop, step_loop;
  std::int64_t steps = 1;  // of the sum that a thread's registers hold
  const ProductTiling& tiling;
  std::vector<std::int64_t> turns = {};  // of the window that the left one is computed from
};

// False when a step failed. Stages of the program that are computed right into shared memory are
// added to `done`.
bool fetch_left(LaunchWriter& writer, const ProductFacts& facts, const OperandPlace& place,
                schedule::Names& done);
// Weights are packed ahead of time, so that a slab of a block lies in one piece.
bool fetch_right(LaunchWriter& writer, const ProductFacts& facts, const OperandPlace& place,
                 schedule::Names& done);

}  // namespace attune::templates
