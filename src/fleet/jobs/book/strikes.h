// What counts against a job: workers that die and stages that fall silent while it comes no
// further. Progress is what no earlier worker of it reached: more trials, or more stages of a kind
// than any finished. A new worker that only repeats how the job begins has made none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fleet/jobs/book/stage_limits.h"
#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

// How the process of a worker ended.
struct WorkerDeath {
  enum class Cause {
    None,     // in order, or by the scheduler's hand
    Crashed,  // a fault of its own
    Killed,   // by somebody
    Starved,  // by the system, for want of memory
  };
  Cause cause = Cause::None;
  std::string how = {};          // "signal 11", "exit status 3"
  std::int64_t peak_bytes = -1;  // the most memory that it had; negative: not known
};

// Whether it counts.
bool count_death(v1::Strikes& strikes, const WorkerDeath& death);
void count_stuck(v1::Strikes& strikes, const std::string& kind, double silent_seconds);
void count_too_long(v1::Strikes& strikes, const std::string& kind, double most_seconds);

// A worker of the job has finished so many stages of a kind, or the job has so many trials: what
// was counted is forgotten where no worker came as far.
void finished_so_many(v1::Strikes& strikes, const std::string& kind, std::int64_t stages);
void tried_so_many(v1::Strikes& strikes, std::int64_t trials);

// Tries without progress so far, and how many there may be of the last one's like.
struct Tries {
  int done = 0, most = 0;
};
Tries tries_of(const v1::Strikes& strikes, const StageLimits& limits);
// A sentence, when the job is to be tried no more.
std::optional<std::string> why_given_up(const v1::Strikes& strikes, const StageLimits& limits);

}  // namespace attune::jobs
