// The loops around every stage, from the outermost of its root nest to its own innermost, and how
// far the axes of the stage move inside of each: footprints and execution counts follow from that.
#pragma once

#include <vector>

#include "tuner/space/spans.h"

namespace attune::model {

struct Level {
  std::int64_t extent;
  ir::LoopKind kind;
  space::Spans spans;  // of the stage's axes while this loop and those inside of it run
};

struct StageNest {
  std::vector<Level> levels;  // outermost first
  std::size_t own = 0;        // index of the first level that is a loop of the stage itself
  std::size_t root = 0;       // the stage whose loops come first
  double useful = 1;          // the part of all iterations that partial tiles leave to be done
};

std::vector<StageNest> loop_nests(const schedule::State& state,
                                  const std::vector<schedule::StageBounds>& bounds);

}  // namespace attune::model
