// A simulated run as a chart: one row per unit of each pool, one bar per stage on all
// units that it has, one colour per job.
#pragma once

#include <string>

#include "fleet/jobs/simulation/simulate.h"

namespace attune::jobs {

// A self-contained SVG document; same run, same bytes.
std::string gantt_svg(const Experiment& experiment, const SimulatedRun& run,
                      const std::string& title);

}  // namespace attune::jobs
