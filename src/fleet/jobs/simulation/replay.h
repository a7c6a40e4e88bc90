// A real run under other policies: its stages take as long as they took, and each is ready as long
// after the stage that made it ready as it was then. Which one that was is seen from the times: the
// last of the same job that had ended. What would have been chosen otherwise in a search that hears
// of results in another order is not known, and left as it was.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/book/rows.h"
#include "fleet/jobs/simulation/simulate.h"

namespace attune::jobs {

// Times are seconds after the beginning of the run.
struct RecordedStage {
  std::size_t job = 0;
  std::uint32_t kind = 0;
  std::uint32_t pool = 0;
  std::vector<int> slots = {0};  // units of the pool that it had
  double ready_at = 0, started_at = 0, ended_at = 0;

  int amount() const { return static_cast<int>(slots.size()); }
  double seconds() const { return ended_at - started_at; }
};

struct RecordedJob {
  std::string name = {}, user = {};
  double priority = 1;
  int prefetch = 1;
  double submitted_at = 0;
  std::vector<std::string> kinds = {};
};

struct RecordedRun {
  std::vector<Pool> pools = {};
  std::vector<RecordedJob> jobs = {};
  std::vector<RecordedStage> stages = {};
};

// The run of these jobs. Stages of others are left out, and so are jobs without stages; an error
// when nothing remains.
Result<RecordedRun> recorded_run(const std::vector<Pool>& pools, const std::vector<JobRow>& jobs,
                                 const std::vector<StageRow>& stages);
// The same with all jobs submitted at the beginning.
RecordedRun submitted_at_once(RecordedRun run);

// As it was, measured by the same figures.
SimulatedRun as_it_ran(const RecordedRun& run);
SimulatedRun replay(const RecordedRun& run, const Policy& policy);

std::string gantt_svg(const RecordedRun& recorded, const SimulatedRun& run,
                      const std::string& title);

}  // namespace attune::jobs
