// How patient a scheduler is: how long a stage may be silent, and how often a job may lose its
// workers without coming further before it is given up.
#pragma once

#include <algorithm>

namespace attune::jobs {

struct StageLimits {
  // A stage of which nothing is heard is ended after so many times what was predicted, but not
  // before the floor: predictions are means, and a candidate alone may take its whole time limit.
  double times_predicted = 20;
  double floor_seconds = 600;
  // Tries without progress: of stages that fell silent and of workers that the system killed for
  // want of memory; and of workers that crashed or were killed by somebody, which may have had
  // other reasons.
  int most_tries = 3;
  int most_crashes = 10;

  double seconds_for(double predicted) const {
    return std::max(floor_seconds, times_predicted * predicted);
  }
};

}  // namespace attune::jobs
