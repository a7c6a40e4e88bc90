// Reductions of rows that lanes of a block share, in shared memory and in three steps: each lane
// reduces its own elements, a few lanes what these found, and one of them the rest.
#pragma once

#include "tuner/templates/launches/launch_writer.h"

namespace attune::templates {

struct LanePlace {
  std::string stage, loop;  // that the rows of a block are computed at
  // Binds what is left of a stage's own axes, the rows, without its last `lanes` ones.
  std::function<bool(const std::string& stage, std::size_t lanes)> bind_rows;
};

// The lanes, a power of two, are threads along x. False when a step failed.
bool reduce_by_lanes(LaunchWriter& writer, const std::string& reduction, std::int64_t lanes,
                     const LanePlace& place);

}  // namespace attune::templates
