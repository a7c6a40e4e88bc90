// Experiments as JSON, so that a plan can be kept and changed; docs/scheduling.md says what each
// key means:
// {"pools": {"host": 2, "device": 1}, "noise": 0.3, "heterogeneity": 0.6, "quotas": {"anna": 2},
//  "jobs": [{"name": "resnet18", "count": 2, "batches": 60, "prefetch": 1, "user": "anna",
//            "priority": 1, "submit_at": 0,
//            "opening": [{"name": "load", "seconds": 2}],
//            "stages": [{"name": "build", "seconds": 8.3},
//                       {"name": "profile", "pool": "device", "amount": 1,
//                        "seconds": [39.1, 40.2]}],
//            "closing": [{"name": "race", "pool": "device", "seconds": 5}]}]}
// `seconds` is a mean, or a list of recorded times. Stages in "opening" and "closing" come once,
// before the first batch and after the last. Keys that are not known are refused.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/jobs/simulation/simulate.h"

namespace attune::jobs {

Result<Experiment> parse_experiment(std::string_view text);

// "build=8.3,profile=39.5,update=44": `profile` holds the device, all others the host; "name@pool"
// says otherwise.
Result<std::vector<StageModel>> parse_stages(std::string_view text, const std::vector<Pool>& pools);

// Adds as many such jobs, with numbers behind the name of more than one. An error when a job takes
// no time at all, or the whole becomes too large: more than twenty million stages, or fewer of more
// than a thousand jobs, among which each decision takes longer.
Status add_jobs(Experiment& experiment, const MockJob& job, int count);

}  // namespace attune::jobs
