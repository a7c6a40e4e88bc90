// A real run of a scheduler under other policies, from the stage times that it recorded.
#pragma once

#include <string>
#include <vector>

#include "app/verbs/jobs/simulate.h"
#include "base/result.h"

namespace attune::verbs {

struct ReplayJobsOptions {
  std::string state = {};              // the scheduler's directory; empty: the default one
  std::vector<std::string> jobs = {};  // names or ids; empty: all that have ended
  std::vector<std::string> policies = {"all"};
  bool at_once = false;    // as if all had been submitted together
  std::string gantt = {};  // a file for a chart of the one policy, else of the run as it was
};

// The first row is the run as it was, under the name "recorded"; the others follow.
Result<SimulateReport> replay_jobs(const ReplayJobsOptions& options);

}  // namespace attune::verbs
