// Experiments as JSON, so that a plan can be kept and changed:
// {"pools": {"host": 2, "device": 1}, "noise": 0.3, "heterogeneity": 0.6,
//  "jobs": [{"name": "resnet18", "count": 2, "batches": 60, "prefetch": 1, "user": "anna",
//            "priority": 1, "submit_at": 0,
//            "stages": [{"name": "build", "pool": "host", "seconds": 8.3},
//                       {"name": "profile", "pool": "device", "seconds": [39.1, 40.2]}]}]}
// `seconds` is a mean, or a list of recorded times. Stages in "opening" and "closing", written as
// those in "stages", come once, before the first batch and after the last.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/jobs/simulate.h"

namespace attune::jobs {

Result<Experiment> parse_experiment(std::string_view text);

// "build=8.3,profile=39.5,update=44": `profile` holds the device, all others the host; "name@pool"
// says otherwise.
Result<std::vector<StageModel>> parse_stages(std::string_view text, const std::vector<Pool>& pools);

}  // namespace attune::jobs
