// A worker of the scheduler: takes one job after the other and tunes it, each step when it is told
// to.
#pragma once

#include <string>

#include "base/result.h"

namespace attune::job_worker {

struct WorkerOptions {
  std::string state = {};        // the scheduler's directory; empty: the default one
  std::string name = {};         // empty: of this process
  double patience_seconds = 10;  // for a scheduler that does not answer
};

// Until no scheduler answers any more, which is the error. The working folder of the process is `/`
// from then on.
Status work(const WorkerOptions& options);

}  // namespace attune::job_worker
